// A group: jobs that share launches (same sizes, precision and head), and the device memory that their
// slots live in. Labels, vocabulary, batch size, lengths and data never split a group.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/lane.h"
#include "engine/prepare.h"

namespace shoal::engine {

// The members of each group, in order of first appearance.
std::vector<std::vector<const PreparedJob*>> group_jobs(std::span<const PreparedJob> jobs);

// Slots of a group: what was asked for, at most one a job; asked == 0: as many as there are jobs and memory.
std::int64_t resolve_slots(const Device& device, std::span<const PreparedJob* const> jobs,
                           std::int64_t asked);

// Device memory of the group's rows with so many slots.
std::size_t rows_bytes(std::span<const PreparedJob* const> jobs, std::int64_t slots);

// "BERT 2 layers x 128, vocabulary 2,048, random weights, fp32"
std::string describe(std::span<const PreparedJob* const> jobs);

class Group {
 public:
  // slots: asked for, 0 = as many as there are jobs and memory.
  Group(Device& device, std::vector<const PreparedJob*> jobs, std::int64_t slots);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  const models::Layout& layout() const { return layout_; }
  SlotMemory& memory() { return *memory_; }
  Lane& lane() { return *lane_; }
  std::int64_t slots() const { return memory_->slots(); }

  // Puts a job's first weights into a slot.
  void fill_slot(std::int64_t slot, const PreparedJob& job, std::vector<std::string>& notes);

 private:
  Device& device_;
  Stream stream_;
  std::vector<const PreparedJob*> jobs_;
  models::Layout layout_;
  std::unique_ptr<SlotMemory> memory_;
  std::unique_ptr<ParamTables> tables_;
  std::unique_ptr<Lane> lane_;
};

// Rows of one evaluation micro-batch.
constexpr std::int64_t kEvalRows = 64;

}  // namespace shoal::engine
