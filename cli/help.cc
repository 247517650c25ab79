// shoal help KEY: what a key of the fleet file does.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "data/text_error.h"
#include "engine/config/key_docs.h"
#include "engine/config/typed_keys.h"

namespace shoal::cli {
namespace {

struct HelpOptions {
  std::string key;
  bool markdown = false;
};

int help(const HelpOptions& options) {
  if (options.markdown) {
    fmt::print("{}", engine::fleet_file_markdown());
  } else if (options.key.empty()) {
    fmt::print("{}\n`shoal help KEY` says more of one.\n", engine::key_list());
  } else if (const auto text = engine::key_help(options.key)) {
    fmt::print("{}", *text);
  } else {
    throw engine::config::UsageError(fmt::format("unknown key {}", data::in_quotes(options.key)) +
                                     engine::key_suggestion(options.key));
  }
  return kAllDone;
}

}  // namespace

void add_help(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("help", "What a key of the fleet file does.");
  const auto options = std::make_shared<HelpOptions>();
  command->add_option("KEY", options->key, "Such as learning_rate; without it all keys are listed");
  command->add_flag("--markdown", options->markdown, "Print docs/fleet-file.md");
  command->callback([options, &run] { run = [options] { return help(*options); }; });
}

}  // namespace shoal::cli
