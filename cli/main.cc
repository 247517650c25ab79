// shoal: reads the command line, runs one command, turns an Error into a line and an exit code.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string_view>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/version.h"
#include "engine/config/typed_keys.h"
#include "kernels/base/error.h"

namespace shoal::cli {
namespace {

// Complaints about a place carry "error:" behind it already.
void print_error(std::string_view what) {
  const bool marked = what.find(": error: ") != std::string_view::npos;
  std::fflush(stdout);
  fmt::print(stderr, "{}{}\n", marked ? "" : "error: ", what);
}

int run_command(int argc, char** argv) {
  CLI::App app("Fine-tunes many BERT models at once.", "shoal");
  app.set_version_flag("--version", version_line());
  app.require_subcommand(1);
  Run run;
  add_init(app, run);
  add_train(app, run);
  add_check(app, run);
  add_eval(app, run);
  add_predict(app, run);
  add_status(app, run);
  add_compare(app, run);
  add_doctor(app, run);
  add_help(app, run);
  if (argc <= 1) {
    fmt::print(stderr, "{}", app.help());
    return kUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    print_error(fmt::format("{}; `shoal --help` and `shoal COMMAND --help` say what there is", error.what()));
    return kUsage;
  }
  return run();
}

}  // namespace
}  // namespace shoal::cli

int main(int argc, char** argv) {
  using namespace shoal;
  try {
    return cli::run_command(argc, argv);
  } catch (const engine::config::UsageError& error) {
    cli::print_error(error.what());
    return cli::kUsage;
  } catch (const std::exception& error) {
    cli::print_error(error.what());
    return cli::kRefused;
  }
}
