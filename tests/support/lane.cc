#include "tests/support/lane.h"

#include <algorithm>
#include <cmath>

#include "kernels/base/error.h"

namespace shoal::test {
namespace {

constexpr std::int64_t kGuardBytes = 1024;

std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

struct Lane::Block {
  std::string name;
  Elem elem = Elem::kF32;
  std::int64_t elements = 0;
  std::byte* device = nullptr;  // start of the first guard band
  std::vector<std::byte> before, after;
  // Of a jobs' tensor:
  const Tensor* tensor = nullptr;  // the first job's, for its kind
  std::size_t index = 0;           // in Job::tensors
  std::int64_t columns = 0;        // of a unit in the lane
  std::int64_t stride = 0;         // from one unit to the next

  std::byte* interior(std::vector<std::byte>& image, std::int64_t element) const {
    return image.data() + kGuardBytes + element * static_cast<std::int64_t>(size_of(elem));
  }
  const std::byte* interior(const std::vector<std::byte>& image, std::int64_t element) const {
    return image.data() + kGuardBytes + element * static_cast<std::int64_t>(size_of(elem));
  }
  void put(std::int64_t element, double value) { encode(elem, value, interior(before, element)); }
};

Lane::Lane(Device& device, std::vector<Job> jobs, const LaneOptions& options)
    : device_(device), stream_(device.make_stream()), jobs_(std::move(jobs)), options_(options) {
  require(!jobs_.empty(), "test: a lane needs a job");
  // A permutation of the slots without fixed points where it can be: backwards, then rotated.
  const int R = W() + options_.spare_slots;
  for (int w = 0; w < W(); ++w) slot_.push_back((R - 1 - w + options_.rotation) % R);
  place_rows();
  place_sequences();
  for (std::size_t i = 0; i < jobs_[0].tensors.size(); ++i) place_tensor(i);
}

Lane::~Lane() {
  for (auto& [name, b] : blocks_) device_.release(Memory::kDevice, b->device);
  device_.release(stream_);
}

Lane::Block& Lane::allocate(const std::string& name, Elem elem, std::int64_t elements) {
  require(blocks_.count(name) == 0, "test: two tensors \"{}\"", name);
  auto b = std::make_unique<Block>();
  b->name = name;
  b->elem = elem;
  b->elements = elements;
  const std::int64_t size = static_cast<std::int64_t>(size_of(elem));
  const std::size_t bytes = index(2 * kGuardBytes + elements * size);
  b->device = static_cast<std::byte*>(device_.allocate(Memory::kDevice, bytes));
  b->before.resize(bytes);
  for (std::size_t i = 0; i + index(size) <= bytes; i += index(size))
    encode_poison(elem, b->before.data() + i);
  return *(blocks_[name] = std::move(b));
}

void Lane::place_rows() {
  for (const int space : {kTokens, kHeads}) {
    const std::string prefix = space == kTokens ? "tokens." : "heads.";
    std::int64_t next = 0;
    for (const Job& job : jobs_) {
      row0_[space].push_back(next);
      next += ceil128(job.live(space)) + options_.gap_blocks * kRowAlign;
    }
    row0_[space].push_back(next);
    row_count_[space] = std::max<std::int64_t>(next, kRowAlign);
    Block& slot = allocate(prefix + "slot", Elem::kI32, W());
    Block& row0 = allocate(prefix + "row0", Elem::kI32, W() + 1);
    Block& live = allocate(prefix + "live", Elem::kI32, W());
    for (int w = 0; w < W(); ++w) {
      slot.put(w, slot_[index(w)]);
      live.put(w, job(w).live(space));
    }
    for (int w = 0; w <= W(); ++w) row0.put(w, static_cast<double>(row0_[space][index(w)]));
  }
}

void Lane::place_sequences() {
  std::vector<std::pair<int, int>> items[Seqs::kLists];
  B_ = 1;
  for (const Job& job : jobs_) {
    B_ = std::max(B_, static_cast<int>(job.shape.lengths.size()) + options_.spare_sequences);
  }
  Block& cu = allocate("cu", Elem::kI32, std::int64_t{W()} * (B_ + 1));
  Block& count = allocate("count", Elem::kI32, W());
  for (int w = 0; w < W(); ++w) {
    const std::vector<int>& lengths = job(w).shape.lengths;
    count.put(w, static_cast<double>(lengths.size()));
    for (std::size_t b = 0; b <= lengths.size(); ++b) {
      cu.put(w * (B_ + 1) + static_cast<int>(b), job(w).cu[b]);
      if (b < lengths.size() && lengths[b] > 0)
        items[seq_list_of(lengths[b])].emplace_back(w, static_cast<int>(b));
    }
  }
  Block& item_count = allocate("item_count", Elem::kI32, Seqs::kLists);
  for (int l = 0; l < Seqs::kLists; ++l) {
    if (options_.reverse_lists) std::reverse(items[l].begin(), items[l].end());
    item_count.put(l, static_cast<double>(items[l].size()));
    Block& list = allocate("items" + std::to_string(l), Elem::kI32, std::int64_t{2} * W() * B_);
    for (std::size_t i = 0; i < items[l].size(); ++i) {
      list.put(static_cast<std::int64_t>(2 * i), items[l][i].first);
      list.put(static_cast<std::int64_t>(2 * i + 1), items[l][i].second);
    }
  }
}

void Lane::place_tensor(std::size_t which) {
  const Tensor& first = jobs_[0].tensors[which];
  std::int64_t columns = 0;
  for (const Job& job : jobs_) {
    require(job.tensors.at(which).name == first.name, "test: jobs of one lane have the same tensors");
    columns = std::max(columns, job.tensors[which].columns);
  }
  std::int64_t stride = columns, units = W();
  const bool shared = options_.share_params && first.place == Place::kSlot && first.role == Role::kIn;
  if (first.place == Place::kRow) units = row_count_[first.space];
  if (first.place == Place::kBlock) units = row_count_[first.space] / kRowAlign;
  if (first.place == Place::kSlot) {
    units = shared ? 1 : W() + options_.spare_slots;
    if (!first.packed) stride = round_up(columns, kTensorAlign) + kTensorAlign;
  }
  Block& b = allocate(first.name, first.elem, units * stride);
  b.tensor = &first;
  b.index = which;
  b.columns = columns;
  b.stride = shared ? 0 : stride;
  for (int w = 0; w < W(); ++w) {
    const Tensor& t = job(w).tensors[which];
    const std::int64_t own_units = job(w).units(t), begin = first_element(w, b);
    if (t.role == Role::kOut || t.role == Role::kScratch) continue;
    for (std::int64_t u = 0; u < own_units; ++u) {
      for (std::int64_t c = 0; c < t.columns; ++c)
        b.put(begin + u * stride + c, t.values[index(u * t.columns + c)]);
      // Rows narrower than the lane's and tail rows were written as zeros by the op before this one.
      for (std::int64_t c = t.columns; c < columns && t.place == Place::kRow; ++c) {
        b.put(begin + u * stride + c, 0);
      }
    }
    if (t.place != Place::kRow || t.tail != Tail::kZero || !is_float(t.elem)) continue;
    for (std::int64_t e = own_units * stride; e < ceil128(own_units) * stride; ++e) b.put(begin + e, 0);
  }
}

std::int64_t Lane::first_element(int w, const Block& b) const {
  switch (b.tensor->place) {
    case Place::kRow:
      return row0_[b.tensor->space][index(w)] * b.stride;
    case Place::kBlock:
      return row0_[b.tensor->space][index(w)] / kRowAlign * b.stride;
    case Place::kSlot:
      return slot_[index(w)] * b.stride;
    default:
      return w * b.stride;
  }
}

const Lane::Block& Lane::block(const std::string& name) const {
  const auto found = blocks_.find(name);
  require(found != blocks_.end(), "test: the lane has no tensor \"{}\"", name);
  return *found->second;
}

void* Lane::address(const std::string& name) const {
  return block(name).device + kGuardBytes;
}
Param Lane::param(const std::string& name) const {
  return {address(name), block(name).stride};
}
Grad Lane::grad(const std::string& name) const {
  return {at<float>(name), block(name).stride, at<const GradMode>(name + ".mode")};
}
int Lane::columns(const std::string& name) const {
  return static_cast<int>(block(name).columns);
}
std::int64_t Lane::stride(const std::string& name) const {
  return block(name).stride;
}
const std::int32_t* Lane::slots() const {
  return at<const std::int32_t>("tokens.slot");
}

Rows Lane::rows(int space) const {
  const std::string prefix = space == kTokens ? "tokens." : "heads.";
  return {W(), row_count_[space], at<const std::int32_t>(prefix + "slot"),
          at<const std::int32_t>(prefix + "row0"), at<const std::int32_t>(prefix + "live")};
}

Seqs Lane::seqs() const {
  Seqs s;
  s.B = B_;
  s.cu = at<const std::int32_t>("cu");
  s.count = at<const std::int32_t>("count");
  for (int l = 0; l < Seqs::kLists; ++l) s.items[l] = at<const SeqItem>("items" + std::to_string(l));
  s.item_count = at<const std::int32_t>("item_count");
  return s;
}

Drop Lane::drop(std::uint32_t site) const {
  return {at<const std::uint64_t>("seed"), at<const std::int32_t>("update"), at<const std::int32_t>("micro"),
          at<const std::uint32_t>("threshold"), site};
}

void* Lane::constant(const std::string& name, const void* bytes, std::size_t size) {
  require(size % 8 == 0, "test: constants are whole 8-byte words");
  if (blocks_.count(name) != 0) return address(name);  // of an earlier run
  Block& b = allocate(name, Elem::kU64, static_cast<std::int64_t>(size / 8));
  std::memcpy(b.interior(b.before, 0), bytes, size);
  device_.copy(b.device, b.before.data(), b.before.size(), stream_);
  device_.synchronize(stream_);
  return address(name);
}

void Lane::upload() {
  for (auto& [name, b] : blocks_) device_.copy(b->device, b->before.data(), b->before.size(), stream_);
  device_.synchronize(stream_);
}

void Lane::download() {
  for (auto& [name, b] : blocks_) {
    b->after.resize(b->before.size());
    device_.copy(b->after.data(), b->device, b->after.size(), stream_);
  }
  device_.synchronize(stream_);
}

Bits Lane::bits(int w) const {
  Bits all;
  for (const auto& [name, b] : blocks_) {
    if (b->tensor == nullptr || b->tensor->role == Role::kIn || b->tensor->role == Role::kScratch) continue;
    const Tensor& t = job(w).tensors[b->index];
    std::vector<std::byte>& own = all[name];
    const std::size_t bytes = index(t.columns) * size_of(t.elem);
    for (std::int64_t u = 0; u < job(w).units(t); ++u) {
      const std::byte* from = b->interior(b->after, first_element(w, *b) + u * b->stride);
      own.insert(own.end(), from, from + bytes);
    }
  }
  return all;
}

std::vector<double> Lane::values(int w, const std::string& name) const {
  const Block& b = block(name);
  const Tensor& t = job(w).tensors[b.index];
  std::vector<double> own;
  for (std::int64_t u = 0; u < job(w).units(t); ++u) {
    for (std::int64_t c = 0; c < t.columns; ++c) {
      own.push_back(decode(t.elem, b.interior(b.after, first_element(w, b) + u * b.stride + c)));
    }
  }
  return own;
}

bool Lane::unchanged(int w, const std::string& name) const {
  const Block& b = block(name);
  const Tensor& t = job(w).tensors[b.index];
  for (std::int64_t u = 0; u < job(w).units(t); ++u) {
    const std::int64_t e = first_element(w, b) + u * b.stride;
    if (std::memcmp(b.interior(b.before, e), b.interior(b.after, e), index(t.columns) * size_of(t.elem)) !=
        0) {
      return false;
    }
  }
  return true;
}

std::vector<std::byte> Lane::memory() const {
  std::vector<std::byte> all;
  for (const auto& [name, b] : blocks_) {
    if (b->tensor != nullptr && b->tensor->role == Role::kScratch) continue;
    all.insert(all.end(), b->after.begin(), b->after.end());
  }
  return all;
}

std::string Lane::damage() const {
  for (const auto& [name, b] : blocks_) {
    const std::string found = damage(*b);
    if (!found.empty()) return found;
  }
  return "";
}

std::string Lane::damage(const Block& b) const {
  enum : char { kKept, kFree, kZeroed };
  const std::int64_t size = static_cast<std::int64_t>(size_of(b.elem));
  std::vector<char> rule(index(b.elements), kKept);
  const auto mark = [&](std::int64_t begin, std::int64_t end, char r) {
    std::fill(rule.begin() + begin, rule.begin() + end, r);
  };
  const bool writes = b.tensor != nullptr && b.tensor->role != Role::kIn;
  if (writes && b.tensor->role == Role::kScratch) mark(0, b.elements, kFree);
  for (int w = 0; writes && b.tensor->role != Role::kScratch && w < W(); ++w) {
    const Tensor& t = job(w).tensors[b.index];
    const std::int64_t begin = first_element(w, b), units = job(w).units(t);
    for (std::int64_t u = 0; u < units; ++u) {
      const std::int64_t e = begin + u * b.stride;
      mark(e, e + t.columns, kFree);
      if (t.place == Place::kRow) mark(e + t.columns, e + b.columns, kZeroed);
    }
    if (t.place == Place::kRow && t.tail == Tail::kZero) {
      mark(begin + units * b.stride, begin + ceil128(units) * b.stride, kZeroed);
    }
  }
  const auto kept = [&](std::int64_t byte, std::int64_t bytes) {
    return std::memcmp(b.before.data() + byte, b.after.data() + byte, index(bytes)) == 0;
  };
  if (!kept(0, kGuardBytes)) return fmt::format("{}: written before its start", b.name);
  if (!kept(kGuardBytes + b.elements * size, kGuardBytes))
    return fmt::format("{}: written past its end", b.name);
  for (std::int64_t e = 0; e < b.elements; ++e) {
    const double value = decode(b.elem, b.interior(b.after, e));
    const std::int64_t unit = b.stride > 0 ? e / b.stride : 0, column = b.stride > 0 ? e % b.stride : e;
    if (rule[index(e)] == kKept && !kept(kGuardBytes + e * size, size)) {
      return fmt::format("{}[{},{}]: changed to {}, is not the op's to write", b.name, unit, column, value);
    }
    if (rule[index(e)] == kZeroed && value != 0) {
      return fmt::format("{}[{},{}]: {} in the tail, wanted 0", b.name, unit, column, value);
    }
  }
  return "";
}

}  // namespace shoal::test
