// Law 6: each "Needs" of a contract has a case that throws, before anything runs, and says what was
// wanted and what it got. The arguments are made of addresses of the null device.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/device.h"
#include "tests/support/op.h"

namespace shoal::test {

template <typename Args>
struct Refusal {
  std::function<void(Args&)> spoil;
  std::string message;  // how it begins
};

// Hands out addresses that every check() takes for good.
class Addresses {
 public:
  template <typename T = void>
  T* make(std::size_t bytes = 1 << 20) {
    return static_cast<T*>(device_->allocate(Memory::kDevice, bytes));
  }
  Rows rows(std::int64_t n = 256, int W = 2) {
    return {W, n, make<std::int32_t>(), make<std::int32_t>(), make<std::int32_t>()};
  }
  Param param(std::int64_t stride) { return {make(), stride}; }
  Grad grad(std::int64_t stride) { return {make<float>(), stride, make<GradMode>()}; }
  Drop drop() {
    return {make<std::uint64_t>(), make<std::int32_t>(), make<std::int32_t>(), make<std::uint32_t>(), 3};
  }
  RowStats stats() { return {make<float>(), make<float>()}; }
  Seqs seqs() {
    Seqs s;
    s.B = 4;
    s.cu = make<std::int32_t>();
    s.count = make<std::int32_t>();
    for (const SeqItem*& list : s.items) list = make<SeqItem>();
    s.item_count = make<std::int32_t>();
    return s;
  }

 private:
  std::unique_ptr<Device> device_ = make_device("null");
};

// `op` is the op's place in the table, as in &OpTable::linear_forward.
template <typename Args>
void expect_refusals(void (*OpTable::*op)(const Args&, Stream), const Args& good,
                     const std::vector<Refusal<Args>>& refusals) {
  std::vector<std::string> devices = test_devices();
  EXPECT_NO_THROW(call(make_device("null")->ops().*op, good, Stream{}));
  devices.push_back("null");
  for (const std::string& name : devices) {
    const auto device = make_device(name);
    const Stream stream = device->make_stream();
    for (const Refusal<Args>& refusal : refusals) {
      Args bad = good;
      refusal.spoil(bad);
      try {
        call(device->ops().*op, bad, stream);
        ADD_FAILURE() << name << " took it; wanted: " << refusal.message;
      } catch (const Error& e) {
        EXPECT_EQ(std::string(e.what()).substr(0, refusal.message.size()), refusal.message) << name;
      }
    }
    device->release(stream);
  }
}

}  // namespace shoal::test
