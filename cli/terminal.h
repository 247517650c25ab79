// What standard output is connected to.
#pragma once

namespace shoal::cli {

struct TerminalSize {
  int columns = 80;
  int rows = 24;
};

// A terminal that can move its cursor.
bool stdout_is_terminal();
// NO_COLOR (no-color.org) is obeyed.
bool stdout_has_color();
// As of now: the user may have pulled at the window.
TerminalSize stdout_size();

}  // namespace shoal::cli
