// Provides the mutator of traces to libFuzzer.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "fuzz/trace_mutator.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

absl::string_view View(const uint8_t* data, size_t size) {
  return absl::string_view(reinterpret_cast<const char*>(data), size);
}

void MutateBytes(std::string* bytes, size_t max_size) {
  const size_t size = bytes->size();
  bytes->resize(max_size);
  bytes->resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(bytes->data()), size, max_size));
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  gotrace::internal::TraceMutator mutator(seed);
  const std::string mutated = mutator.Mutate(View(data, size), max_size, MutateBytes);
  std::memcpy(data, mutated.data(), mutated.size());
  return mutated.size();
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data1, size_t size1,
                                            const uint8_t* data2, size_t size2, uint8_t* out,
                                            size_t max_size, unsigned int seed) {
  gotrace::internal::TraceMutator mutator(seed);
  const std::string crossed = mutator.Cross(View(data1, size1), View(data2, size2), max_size);
  std::memcpy(out, crossed.data(), crossed.size());
  return crossed.size();
}
