// The commands of `shoal`, a file each. add_NAME declares the command's options on the parser and, when
// the command was the one typed, leaves in `run` what is to be done; run returns an ExitCode or throws Error.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace shoal::cli {

using Run = std::function<int()>;

void add_init(CLI::App& app, Run& run);
void add_train(CLI::App& app, Run& run);
void add_check(CLI::App& app, Run& run);
void add_eval(CLI::App& app, Run& run);
void add_predict(CLI::App& app, Run& run);
void add_status(CLI::App& app, Run& run);
void add_compare(CLI::App& app, Run& run);
void add_doctor(CLI::App& app, Run& run);
void add_help(CLI::App& app, Run& run);

}  // namespace shoal::cli
