#include "tests/support/job.h"

#include <cmath>
#include <limits>

#include "kernels/base/error.h"

namespace shoal::test {

std::uint64_t Random::bits() {  // splitmix64's finaliser over a Weyl sequence
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double Random::uniform() {
  return static_cast<double>(bits() >> 11) * 0x1p-53;
}

double Random::normal() {
  const std::uint64_t b = bits();
  const double sum =
      static_cast<double>((b & 0xffff) + ((b >> 16) & 0xffff) + ((b >> 32) & 0xffff) + (b >> 48));
  return (sum / 65536.0 - 2.0) * std::sqrt(3.0);
}

Job::Job(const JobShape& job_shape, DType job_dtype)
    : shape(job_shape),
      dtype(job_dtype),
      cu{0},
      data(job_shape.seed),
      params(job_shape.param_seed != 0 ? job_shape.param_seed : job_shape.seed + 1000003) {
  for (const int length : shape.lengths) cu.push_back(cu.back() + length);
}

int Job::live(int space) const {
  if (space == kTokens) return cu.back();
  int n = 0;
  for (const int length : shape.lengths) n += length > 0 ? 1 : 0;
  return n;
}

std::int64_t Job::units(const Tensor& t) const {
  switch (t.place) {
    case Place::kRow:
      return live(t.space);
    case Place::kBlock:
      return ceil128(live(t.space)) / kRowAlign;
    default:
      return 1;
  }
}

const Tensor& Job::at(const std::string& name) const {
  for (const Tensor& t : tensors) {
    if (t.name == name) return t;
  }
  fail("test: no tensor \"{}\"", name);
}

std::vector<double> Job::fill(std::int64_t n, Elem elem, const std::function<double()>& next) const {
  std::vector<double> values(static_cast<std::size_t>(n));
  for (double& v : values) {
    v = shape.nan ? std::numeric_limits<double>::quiet_NaN() : rounded(elem, next());
  }
  return values;
}

Tensor& Job::add(Tensor tensor) {
  if (shape.nan && is_float(tensor.elem)) {
    for (double& v : tensor.values) v = std::numeric_limits<double>::quiet_NaN();
  }
  tensors.push_back(std::move(tensor));
  return tensors.back();
}

Tensor& Job::rows(const std::string& name, std::int64_t columns, int space) {
  const Elem elem = elem_of(dtype);
  Tensor t{.name = name, .elem = elem, .columns = columns, .space = space};
  t.values = fill(live(space) * columns, elem, [&] { return data.normal() * shape.scale + shape.offset; });
  return add(std::move(t));
}

Tensor& Job::param(const std::string& name, std::int64_t elements, double deviation, double mean) {
  const Elem elem = elem_of(dtype);
  Tensor t{.name = name, .elem = elem, .place = Place::kSlot, .columns = elements};
  t.values = fill(elements, elem, [&] { return params.normal() * deviation + mean; });
  return add(std::move(t));
}

Tensor& Job::param_f32(const std::string& name, std::int64_t elements, double deviation, double mean) {
  Tensor t{.name = name, .place = Place::kSlot, .columns = elements};
  t.values = fill(elements, t.elem, [&] { return params.normal() * deviation + mean; });
  return add(std::move(t));
}

Tensor& Job::out(const std::string& name, std::int64_t columns, int space) {
  return add({.name = name, .elem = elem_of(dtype), .role = Role::kOut, .columns = columns, .space = space});
}

Tensor& Job::out_per_row(const std::string& name, std::int64_t columns) {
  return add({.name = name, .role = Role::kOut, .columns = columns, .tail = Tail::kUntouched});
}

Tensor& Job::grad(const std::string& name, std::int64_t elements) {
  entry(name + ".mode", Elem::kI32, {static_cast<double>(shape.mode)});
  Tensor t{.name = name, .place = Place::kSlot, .role = Role::kInOut, .columns = elements};
  // What is set needs no former value: it may be NaN.
  const bool stale = shape.mode == GradMode::kSet;
  t.values = fill(elements, t.elem,
                  [&] { return stale ? std::numeric_limits<double>::quiet_NaN() : data.normal(); });
  return add(std::move(t));
}

Tensor& Job::saved(const std::string& name, Elem elem, std::int64_t columns, std::vector<double> exact,
                   Tail tail) {
  Tensor t{.name = name, .elem = elem, .columns = columns, .tail = tail};
  t.unrounded = std::move(exact);
  std::size_t i = 0;
  t.values = fill(live() * columns, elem, [&] { return t.unrounded[i++]; });
  return add(std::move(t));
}

Tensor& Job::entry(const std::string& name, Elem elem, std::vector<double> values) {
  Tensor t{.name = name, .elem = elem, .place = Place::kEntry};
  t.columns = static_cast<std::int64_t>(values.size());
  t.values = std::move(values);
  for (double& v : t.values) v = rounded(elem, v);
  return add(std::move(t));
}

Tensor& Job::ints(const std::string& name, std::vector<double> values, int space) {
  Tensor t{.name = name, .elem = Elem::kI32, .columns = 1, .space = space};
  t.values = std::move(values);
  return add(std::move(t));
}

void Job::dropout() {
  const reference::DropoutKey k = key(0);
  entry("seed", Elem::kU64, {static_cast<double>(k.seed)});
  entry("update", Elem::kI32, {static_cast<double>(k.update)});
  entry("micro", Elem::kI32, {static_cast<double>(k.micro)});
  entry("threshold", Elem::kU32, {static_cast<double>(k.threshold)});
}

reference::DropoutKey Job::key(std::uint32_t site) const {
  return {.seed = 0x1000000001u + shape.seed,
          .update = static_cast<std::uint32_t>(shape.seed % 7),
          .micro = static_cast<std::uint32_t>(shape.seed % 3),
          .site = site,
          .threshold = dropout_threshold(shape.drop)};
}

}  // namespace shoal::test
