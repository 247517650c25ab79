// The data of ONE job for one op: what is in its rows, its parameters and its scalars, wherever a lane
// may put them. All of it follows from the JobShape.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/base/view.h"
#include "kernels/reference/dropout.h"
#include "tests/support/elem.h"

namespace shoal::test {

struct JobShape {
  std::vector<int> lengths;  // of its sequences; {}: an idle entry
  int labels = 3;
  double scale = 1;   // factor of the activations
  double offset = 0;  // added to them
  double drop = 0.1;  // probability
  GradMode mode = GradMode::kSet;
  bool updates = true;  // optimizer ops: this entry's update[w]
  bool nan = false;     // all of its floating-point data is NaN
  std::uint64_t seed = 1;
  std::uint64_t param_seed = 0;  // jobs of the same one (not 0) have the same parameters
};

// Where a tensor's units stand in the lane: rows and 128-row blocks at the entry's row0, slots at the
// entry's resident slot, entries at w.
enum class Place { kRow, kBlock, kSlot, kEntry };
enum class Role { kIn, kOut, kInOut, kScratch };
enum class Tail { kZero, kUntouched };

// The rows of a job come in two spaces: all its tokens, or one row for each non-empty sequence.
constexpr int kTokens = 0;
constexpr int kHeads = 1;

struct Tensor {
  std::string name;
  Elem elem = Elem::kF32;
  Place place = Place::kRow;
  Role role = Role::kIn;
  std::int64_t columns = 0;  // own elements of one unit; the lane makes room for the largest job's
  int space = kTokens;
  Tail tail = Tail::kZero;             // what the rows live .. ceil128(live) hold: zeros, or poison
  bool packed = false;                 // kSlot: stride = columns, no padding
  std::vector<double> values = {};     // [units, columns] as stored; empty for kOut and kScratch
  std::vector<double> unrounded = {};  // saved(): what the double reference takes instead
};

// Uniform in a sum of four: near enough to a normal distribution, and quick.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x1234567u) {}
  std::uint64_t bits();
  double uniform();  // [0, 1)
  double normal();   // mean 0, standard deviation 1
  int below(int n) { return static_cast<int>(uniform() * n); }

 private:
  std::uint64_t state_;
};

class Job {
 public:
  Job(const JobShape& job_shape, DType job_dtype);

  JobShape shape;
  DType dtype;
  std::vector<int> cu;  // of its sequences
  std::vector<Tensor> tensors;

  int live(int space = kTokens) const;
  std::int64_t units(const Tensor& t) const;
  const Tensor& at(const std::string& name) const;

  // Activations and parameters of the job's dtype; scale and offset apply to activations alone.
  Tensor& rows(const std::string& name, std::int64_t columns, int space = kTokens);
  Tensor& param(const std::string& name, std::int64_t elements, double deviation, double mean = 0);
  Tensor& param_f32(const std::string& name, std::int64_t elements, double deviation, double mean = 0);
  // Activations that the op writes: columns of the job's dtype, NaN before.
  Tensor& out(const std::string& name, std::int64_t columns, int space = kTokens);
  // The same in float, one value a row, whose tail rows are nobody's: statistics, row losses.
  Tensor& out_per_row(const std::string& name, std::int64_t columns = 1);
  // A gradient of a slot under the job's mode ("<name>.mode" comes with it).
  Tensor& grad(const std::string& name, std::int64_t elements);
  // Activations kept by a forward: `exact` is rounded for the op and the plain form, not for double.
  Tensor& saved(const std::string& name, Elem elem, std::int64_t columns, std::vector<double> exact,
                Tail tail = Tail::kZero);
  // Anything else.
  Tensor& add(Tensor tensor);
  Tensor& entry(const std::string& name, Elem elem, std::vector<double> values);
  Tensor& ints(const std::string& name, std::vector<double> values, int space = kTokens);
  // seed, update, micro, threshold of a dropout site; key() is the same for the reference.
  void dropout();
  reference::DropoutKey key(std::uint32_t site) const;

  // Results of a reference: what a gradient holds afterwards, by the mode.
  bool skips() const { return shape.mode == GradMode::kSkip; }
  bool adds() const { return shape.mode == GradMode::kAdd; }

  Random data;
  Random params;

 private:
  std::vector<double> fill(std::int64_t n, Elem elem, const std::function<double()>& next) const;
};

}  // namespace shoal::test
