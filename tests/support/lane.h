// A lane on a device, filled with jobs: what an op under test runs on.
//
// Everything that an op must not touch is poison: guard bands around every tensor, rows beyond
// ceil128(live), the padding of strides, slots that are not in the lane, and the op's outputs before
// the run. damage() tells what the run changed that it should not have.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "tests/support/job.h"

namespace shoal::test {

struct LaneOptions {
  int spare_slots = 2;         // R = W + spare_slots
  int rotation = 0;            // of the slot permutation
  int gap_blocks = 0;          // 128-row blocks between one entry and the next
  int spare_sequences = 1;     // B = the largest count + this
  bool reverse_lists = false;  // order of the attention work lists
  bool share_params = false;   // inputs of slots: one copy, stride 0; the jobs have the same
};

// The bits that an op left in a job's own places, by tensor.
using Bits = std::map<std::string, std::vector<std::byte>>;

class Lane {
 public:
  Lane(Device& device, std::vector<Job> jobs, const LaneOptions& options = {});
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // The arguments of the op.
  template <typename T = void>
  T* at(const std::string& name) const {
    return static_cast<T*>(address(name));
  }
  Param param(const std::string& name) const;
  Grad grad(const std::string& name) const;
  Rows rows(int space = kTokens) const;
  Seqs seqs() const;
  Drop drop(std::uint32_t site) const;
  RowStats stats() const { return {at<float>("mean"), at<float>("rstd")}; }
  DType dtype() const { return jobs_[0].dtype; }
  int W() const { return static_cast<int>(jobs_.size()); }
  int columns(const std::string& name) const;          // of the lane: the largest job's
  std::int64_t stride(const std::string& name) const;  // kSlot
  const std::int32_t* slots() const;
  // Bytes that are the lane's own, as the table of parameters is.
  void* constant(const std::string& name, const void* bytes, std::size_t size);

  void upload();  // everything as it was made
  void download();

  const Job& job(int w) const { return jobs_[static_cast<std::size_t>(w)]; }
  Bits bits(int w) const;                                            // of all its outputs
  std::vector<double> values(int w, const std::string& name) const;  // after the run
  bool unchanged(int w, const std::string& name) const;
  std::vector<std::byte> memory() const;  // every bit of the lane
  std::string damage() const;             // "" or what is wrong, where

 private:
  struct Block;  // one allocation with its guard bands and its two images on the host

  void* address(const std::string& name) const;
  const Block& block(const std::string& name) const;
  Block& allocate(const std::string& name, Elem elem, std::int64_t elements);
  void place_rows();
  void place_sequences();
  void place_tensor(std::size_t index);
  std::int64_t first_element(int w, const Block& b) const;  // of the entry's unit 0
  std::string damage(const Block& b) const;

  Device& device_;
  Stream stream_;
  std::vector<Job> jobs_;
  LaneOptions options_;
  std::vector<int> slot_;
  std::vector<std::int64_t> row0_[2];
  std::int64_t row_count_[2] = {};
  int B_ = 0;
  std::map<std::string, std::unique_ptr<Block>> blocks_;
};

}  // namespace shoal::test
