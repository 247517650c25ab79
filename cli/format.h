// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::cli {

std::string with_commas(std::int64_t n);               // 12,000
std::string counted(std::int64_t n, const char* one);  // "1 job", "4 jobs"
std::string clock_text(double seconds);                // 0:07, 12:30, 1:02:30
std::string bytes_text(std::int64_t bytes);            // 41 MB
std::string metric_text(double value);                 // 0.981
std::string epoch_text(double epoch);                  // 4, 2.5

}  // namespace shoal::cli
