#include "engine/result_means.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "engine/config/job_toml.h"

namespace shoal::engine {
namespace {

// What two jobs of one mean have in common.
std::string settings_of(const JobSpec& job) {
  JobSpec same = job;
  same.name.clear();
  same.seed = JobSpec{}.seed;
  same.data_seed.reset();
  if (same.fold) same.fold->fold = 0;
  std::string key = job_toml(same);
  for (const auto& [name, value] : job.variables) {
    if (name != "seed" && name != "data_seed" && name != "fold") key += fmt::format("{}={}\n", name, value);
  }
  return key;
}

// "lr*-s1": the same at both ends, a star for what lies between.
std::string common_name(const std::vector<std::string>& names) {
  std::size_t head = names.front().size(), tail = names.front().size();
  const std::string& first = names.front();
  for (const std::string& name : names) {
    head = std::min<std::size_t>(head, std::ranges::mismatch(first, name).in1 - first.begin());
    const auto ends = std::mismatch(first.rbegin(), first.rend(), name.rbegin(), name.rend());
    tail = std::min<std::size_t>(tail, static_cast<std::size_t>(ends.first - first.rbegin()));
  }
  const std::size_t shortest = std::ranges::min(names, {}, &std::string::size).size();
  tail = std::min(tail, shortest - std::min(head, shortest));
  return first.substr(0, head) + "*" + first.substr(first.size() - tail);
}

struct Moments {
  double mean = 0;
  double sd = 0;
};

Moments moments_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  Moments m;
  for (const double value : values) m.mean += value / n;
  for (const double value : values) m.sd += (value - m.mean) * (value - m.mean) / (n - 1);
  m.sd = std::sqrt(m.sd);
  return m;
}

std::string shown(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{}", value);
}

void append_rows(const std::vector<std::size_t>& members, const std::vector<std::string>& variables,
                 const std::vector<std::string>& numbers, std::vector<Cells>& rows) {
  std::vector<std::string> names;
  for (const std::size_t member : members) names.push_back(rows[member]["name"]);
  Cells mean, sd;
  mean["status"] = "mean";
  sd["status"] = "sd";
  mean["name"] = fmt::format("mean of {}: {}", members.size(), common_name(names));
  sd["name"] = fmt::format("sd of {}: {}", members.size(), common_name(names));
  for (const std::string& column : variables) {
    const std::string& value = rows[members.front()][column];
    const auto same = [&](std::size_t member) { return rows[member][column] == value; };
    if (std::ranges::all_of(members, same)) mean[column] = sd[column] = value;
  }
  for (const std::string& column : numbers) {
    std::vector<double> values;
    for (const std::size_t member : members) {
      const std::string& cell = rows[member][column];
      if (!cell.empty()) values.push_back(std::strtod(cell.c_str(), nullptr));
    }
    if (values.size() < members.size()) continue;
    const Moments moments = moments_of(values);
    mean[column] = shown(moments.mean);
    sd[column] = shown(moments.sd);
  }
  rows.push_back(std::move(mean));
  rows.push_back(std::move(sd));
}

}  // namespace

void append_means(const std::vector<JobSpec>& jobs, const std::vector<std::string>& variables,
                  const std::vector<std::string>& numbers, std::vector<Cells>& rows) {
  std::map<std::string, std::vector<std::size_t>> members;
  std::vector<std::string> order;  // of first appearance
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (rows[j]["status"] != "done") continue;
    std::string key = settings_of(jobs[j]);
    if (members[key].empty()) order.push_back(key);
    members[key].push_back(j);
  }
  for (const std::string& key : order)
    if (members[key].size() >= 2) append_rows(members[key], variables, numbers, rows);
}

}  // namespace shoal::engine
