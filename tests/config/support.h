// A folder with the files that a fleet file names, and ways to read a fleet file in it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/config/fleet_file.h"
#include "kernels/base/error.h"

namespace shoal::engine {

class FleetFileTest : public testing::Test {
 protected:
  FleetFileTest() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() / ("shoal_config_" + std::to_string(::getpid()) + "_" +
                                                        info->test_suite_name() + "_" + info->name());
    std::filesystem::create_directories(folder_);
    for (const char* name : {"train.tsv", "dev.tsv", "vocab.txt"}) touch(name);
  }
  ~FleetFileTest() override { std::filesystem::remove_all(folder_); }

  void touch(const std::filesystem::path& name) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << "\n";
  }

  FleetSpec parse(const std::string& text, const FleetFileOptions& options = {}) const {
    return parse_fleet(text, folder_ / "f.toml", options);
  }

  // The message, with the folder left out of it; "" where nothing was refused.
  std::string refusal(const std::string& text, const FleetFileOptions& options = {}) const {
    try {
      static_cast<void>(parse(text, options));
      return {};
    } catch (const Error& error) {
      return without_folder(error.what());
    }
  }

  std::string without_folder(std::string text) const {
    const std::string prefix = folder_.string() + "/";
    for (std::size_t at = 0; (at = text.find(prefix, at)) != std::string::npos;)
      text.erase(at, prefix.size());
    return text;
  }

  static std::vector<std::string> names(const FleetSpec& fleet) {
    std::vector<std::string> out;
    for (const JobSpec& job : fleet.jobs) out.push_back(job.name);
    return out;
  }

  // "fold 2 of 5, seed 0, by column 'user'".
  static std::string shown(const std::optional<Fold>& fold) {
    if (!fold) return "none";
    return "fold " + std::to_string(fold->fold) + " of " + std::to_string(fold->n) + ", seed " +
           std::to_string(fold->seed) + (fold->group ? ", by " + fold->group->text() : "");
  }

  std::filesystem::path folder_;
  // Enough of a file for a job to be whole; the first line of what follows is line 4.
  const std::string defaults_ =
      "[defaults]\n"
      "model = { preset = \"bert-tiny\", vocab = \"vocab.txt\" }\n"
      "train_file = \"train.tsv\"\n";
};

}  // namespace shoal::engine
