#include "testing/memory_meter.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GOTRACE_SANITIZER_ALLOCATES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GOTRACE_SANITIZER_ALLOCATES 1
#endif
#endif

namespace {

std::atomic<int64_t> live{0};
std::atomic<int64_t> most{0};

void Count(int64_t size) {
  const int64_t now = live.fetch_add(size, std::memory_order_relaxed) + size;
  int64_t peak = most.load(std::memory_order_relaxed);
  while (now > peak && !most.compare_exchange_weak(peak, now, std::memory_order_relaxed)) continue;
}

}  // namespace

#ifdef GOTRACE_SANITIZER_ALLOCATES

// Declared here because not every compiler comes with the header that declares them.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*,
                                                                             size_t),
                                                         void (*free_hook)(const volatile void*));
extern "C" size_t __sanitizer_get_allocated_size(const volatile void* block);

namespace {

// The hooks run inside of the allocator, so they must not allocate.
void OnMalloc(const volatile void*, size_t size) { Count(static_cast<int64_t>(size)); }
void OnFree(const volatile void* block) {
  if (block != nullptr) Count(-static_cast<int64_t>(__sanitizer_get_allocated_size(block)));
}

[[maybe_unused]] const int kInstalled = __sanitizer_install_malloc_and_free_hooks(OnMalloc, OnFree);

}  // namespace

#else

// These replace glibc's functions, and call them by their other names.
extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* block);

static void* Counted(void* block) {
  if (block != nullptr) Count(static_cast<int64_t>(malloc_usable_size(block)));
  return block;
}

void* malloc(size_t size) { return Counted(__libc_malloc(size)); }
void* calloc(size_t count, size_t size) { return Counted(__libc_calloc(count, size)); }
void* memalign(size_t alignment, size_t size) { return Counted(__libc_memalign(alignment, size)); }
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** block, size_t alignment, size_t size) {
  *block = memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}

void free(void* block) {
  if (block != nullptr) Count(-static_cast<int64_t>(malloc_usable_size(block)));
  __libc_free(block);
}

void* realloc(void* block, size_t size) {
  const int64_t before = block == nullptr ? 0 : static_cast<int64_t>(malloc_usable_size(block));
  void* const moved = __libc_realloc(block, size);
  if (moved == nullptr && size > 0) return nullptr;
  // Both blocks may be allocated at the same time.
  Counted(moved);
  Count(-before);
  return moved;
}

}  // extern "C"

#endif

namespace gotrace::internal {

MemoryMeter::MemoryMeter() : base_(live) { most = base_; }

uint64_t MemoryMeter::peak() const {
  return static_cast<uint64_t>(std::max<int64_t>(0, most - base_));
}

}  // namespace gotrace::internal
