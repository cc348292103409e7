// Measures how fast varints of 1, 2, 5 and 10 bytes are read.
#include <string>

#include "benchmark/benchmark.h"
#include "tracev2/varint.h"

namespace gotrace::internal {
namespace {

constexpr int kCount = 4096;

// Returns kCount varints of `size` bytes each, and room after them for ReadVarintUnchecked.
std::string MakeVarints(int size) {
  const uint64_t value = size == kMaxVarintSize ? ~uint64_t{0} : (uint64_t{1} << (7 * size)) - 1;
  std::string bytes;
  for (int i = 0; i < kCount; ++i) AppendVarint(value, &bytes);
  return bytes.append(kMaxVarintSize, '\0');
}

template <class Read>
void ReadAll(benchmark::State& state, Read read) {
  const std::string bytes = MakeVarints(static_cast<int>(state.range(0)));
  const char* const end = bytes.data() + bytes.size() - kMaxVarintSize;
  for (auto _ : state) {
    uint64_t sum = 0;
    for (const char* pos = bytes.data(); pos < end;) {
      uint64_t value = 0;
      pos = read(pos, end, &value);
      sum += value;
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * kCount);
  state.SetBytesProcessed(state.iterations() * (end - bytes.data()));
}

void BM_ReadVarint(benchmark::State& state) {
  ReadAll(state, [](const char* pos, const char* end, uint64_t* value) {
    return ReadVarint(pos, end, value);
  });
}
BENCHMARK(BM_ReadVarint)->Arg(1)->Arg(2)->Arg(5)->Arg(10);

void BM_ReadVarintUnchecked(benchmark::State& state) {
  ReadAll(state, [](const char* pos, const char*, uint64_t* value) {
    return ReadVarintUnchecked(pos, value);
  });
}
BENCHMARK(BM_ReadVarintUnchecked)->Arg(1)->Arg(2)->Arg(5)->Arg(10);

}  // namespace
}  // namespace gotrace::internal
