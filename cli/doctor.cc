// shoal doctor: what this machine has and what this build makes of it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/format.h"
#include "cli/version.h"
#include "kernels/base/error.h"
#include "kernels/device.h"

namespace shoal::cli {
namespace {

void say(std::string_view what, std::string_view value) {
  fmt::print("{:<12}{}\n", what, value);
}

// The value behind the first line of a /proc file that starts with `key`.
std::string proc_value(const char* file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return {};
}

// Of the instruction sets that decide the speed, those the CPU has.
std::string instruction_sets() {
  const std::string flags = " " + proc_value("/proc/cpuinfo", "flags") + " ";
  std::string out;
  for (const char* flag : {"avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_tile"}) {
    if (flags.find(fmt::format(" {} ", flag)) != std::string::npos)
      out += (out.empty() ? "" : " ") + std::string(flag);
  }
  return out.empty() ? "none of those that shoal looks for" : out;
}

std::string cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const bool known = ::sched_getaffinity(0, sizeof set, &set) == 0;
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  return fmt::format("{} for this process, {} in all", known ? CPU_COUNT(&set) : static_cast<int>(online),
                     online);
}

std::string memory() {
  const auto bytes = [](const char* key) {
    return std::strtoll(proc_value("/proc/meminfo", key).c_str(), nullptr, 10) * 1024;
  };
  return fmt::format("{} free of {}", bytes_text(bytes("MemAvailable")), bytes_text(bytes("MemTotal")));
}

std::string_view dnnl_isa() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::avx512_core_amx:
      return "AVX512-AMX";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "AVX512-BF16";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "AVX512-VNNI";
    case dnnl::cpu_isa::avx512_core:
      return "AVX512";
    case dnnl::cpu_isa::avx2_vnni:
      return "AVX2-VNNI";
    case dnnl::cpu_isa::avx2:
      return "AVX2";
    default:
      return "an older instruction set than AVX2";
  }
}

std::string disk() {
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(".", error);
  if (error) return "unknown: " + error.message();
  return fmt::format("{} free in {}", bytes_text(static_cast<std::int64_t>(space.available)),
                     std::filesystem::current_path(error).string());
}

int doctor() {
  say("shoal", version_line().substr(6));
  const std::string model = proc_value("/proc/cpuinfo", "model name");
  say("CPU", model.empty() ? "unknown" : model);
  say("", instruction_sets());
  say("cores", cores());
  say("memory", memory());
  const dnnl::version_t* version = dnnl::version();
  say("oneDNN", fmt::format("{}.{}.{}, uses {}", version->major, version->minor, version->patch, dnnl_isa()));
  say("devices", fmt::format("{}", fmt::join(device_names(), ", ")));
  const std::string why = why_no_device("cuda");
  say("GPU", why.empty() ? make_device("cuda")->description() : why);
  const std::unique_ptr<Device> device = make_device("auto");
  say("auto", fmt::format("device {} ({}), precision {}", device->name(), device->description(),
                          device->supports(DType::kBF16) ? "bf16" : "fp32"));
  say("disk", disk());
  return kAllDone;
}

}  // namespace

void add_doctor(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("doctor", "What this machine has and what \"auto\" makes of it.");
  command->callback([&run] { run = doctor; });
}

}  // namespace shoal::cli
