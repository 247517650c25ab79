// The loads and stores of the kernels. g++ -fsanitize=thread calls __tsan_read.. and __tsan_write.. at each;
// libtsan is not linked, these functions are ours.
#include "kernels/simt/access.h"

#include "kernels/base/error.h"
#include "kernels/simt/memory.h"
#include "kernels/simt/run.h"
#include "kernels/simt/shared.h"

namespace shoal::simt {
namespace {

[[noreturn]] void conflict(const char* what, std::uint32_t other) {
  const dim3 g = run->grid.grid;
  fault("{} {} block ({}, {}, {}) of the same launch", *self, what, other % g.x, other / g.x % g.y,
        other / g.x / g.y);
}

void check_block(const void* p, std::size_t bytes, const char* what) {
  if (!in_one_block(p, bytes)) {
    fault("{} {} {} bytes out of bounds of device memory", *self, what, bytes);
  }
}

}  // namespace

void read_global(const void* p, std::size_t bytes) {
  check_block(p, bytes, "reads");
  Counters& counters = run->settings->counters;
  counters.read_bytes += static_cast<std::int64_t>(bytes);
  Touch* t = touch_of(p);
  for (std::size_t i = 0; i < (bytes + 1) / 2; ++i, ++t) {
    // Two single bytes share a touch: which of them a block means is not known.
    if (bytes > 1 && t->write_launch == run->launch_number && t->writer != run->block_number) {
      conflict("reads device memory that is written by", t->writer);
    }
    if (t->read_launch != run->launch_number) {
      t->read_launch = run->launch_number;
      t->reader = run->block_number;
      counters.first_read_bytes += bytes == 1 ? 1 : 2;
    } else if (t->reader != run->block_number) {
      t->reader = kSeveral;
    }
  }
}

void write_global(const void* p, std::size_t bytes) {
  check_block(p, bytes, "writes");
  Counters& counters = run->settings->counters;
  counters.written_bytes += static_cast<std::int64_t>(bytes);
  Touch* t = touch_of(p);
  for (std::size_t i = 0; i < (bytes + 1) / 2; ++i, ++t) {
    if (bytes > 1 && t->read_launch == run->launch_number && t->reader != run->block_number) {
      if (t->reader == kSeveral) fault("{} writes device memory that several blocks read", *self);
      conflict("writes device memory that is read by", t->reader);
    }
    if (t->write_launch != run->launch_number) {
      t->write_launch = run->launch_number;
      t->writer = run->block_number;
      counters.first_written_bytes += bytes == 1 ? 1 : 2;
    } else if (bytes > 1 && t->writer != run->block_number) {
      conflict("writes device memory that is written by", t->writer);
    }
  }
}

}  // namespace shoal::simt

#if defined(SHOAL_SIMT_INSTRUMENTED)
// The program's own image, set by the linker.
extern "C" {
extern char __executable_start;
extern char end;
}

namespace shoal::simt {
namespace {

// Neither device, shared nor own memory: the kernel's arguments and the program's constants may be read.
void check_foreign(const void* p, std::size_t bytes, bool write) {
  const char* const at = static_cast<const char*>(p);
  if (!write && at >= &__executable_start && at < &end) return;
  if (!write && at >= run->grid.args && at + bytes <= run->grid.args + run->grid.args_bytes) return;
  fault("{} {} {} bytes of host memory", *self, write ? "writes" : "reads", bytes);
}

void on_read(const void* p, std::size_t bytes) {
  if (self == nullptr || self->fiber.on_stack(p)) return;
  if (shared_memory().contains(p)) {
    shared_memory().read(p, bytes);
  } else if (in_arena(p)) {
    read_global(p, bytes);
  } else {
    check_foreign(p, bytes, false);
  }
}

void on_write(const void* p, std::size_t bytes) {
  if (self == nullptr || self->fiber.on_stack(p)) return;
  if (shared_memory().contains(p)) {
    shared_memory().write(p, bytes);
  } else if (in_arena(p)) {
    write_global(p, bytes);
  } else {
    check_foreign(p, bytes, true);
  }
}

}  // namespace
}  // namespace shoal::simt

extern "C" {
#define SHOAL_ACCESS(n)                     \
  void __tsan_read##n(void* p) {            \
    shoal::simt::on_read(p, n);             \
  }                                         \
  void __tsan_write##n(void* p) {           \
    shoal::simt::on_write(p, n);            \
  }                                         \
  void __tsan_unaligned_read##n(void* p) {  \
    shoal::simt::on_read(p, n);             \
  }                                         \
  void __tsan_unaligned_write##n(void* p) { \
    shoal::simt::on_write(p, n);            \
  }                                         \
  void __tsan_volatile_read##n(void* p) {   \
    shoal::simt::on_read(p, n);             \
  }                                         \
  void __tsan_volatile_write##n(void* p) {  \
    shoal::simt::on_write(p, n);            \
  }
SHOAL_ACCESS(1)
SHOAL_ACCESS(2)
SHOAL_ACCESS(4)
SHOAL_ACCESS(8)
SHOAL_ACCESS(16)
#undef SHOAL_ACCESS
void __tsan_read_range(void* p, unsigned long bytes) {
  shoal::simt::on_read(p, bytes);
}
void __tsan_write_range(void* p, unsigned long bytes) {
  shoal::simt::on_write(p, bytes);
}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
}
#endif
