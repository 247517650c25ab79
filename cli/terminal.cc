#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace shoal::cli {

bool stdout_is_terminal() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && term && *term && std::string_view(term) != "dumb";
}

bool stdout_has_color() {
  const char* no_color = std::getenv("NO_COLOR");
  return stdout_is_terminal() && !(no_color && *no_color);
}

TerminalSize stdout_size() {
  winsize size = {};
  TerminalSize out;
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return out;
  if (size.ws_col > 0) out.columns = size.ws_col;
  if (size.ws_row > 0) out.rows = size.ws_row;
  return out;
}

}  // namespace shoal::cli
