#include "view/packed_pieces.h"

#include <cstdint>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"

namespace gotrace::internal {
namespace packed_pieces_test {

auto FieldsOf(const LanePiece& piece) {
  return std::tuple(piece.begin, piece.end, piece.proc_until, piece.goroutine.value,
                    piece.proc.value, piece.thread.value, piece.start, piece.reason, piece.state,
                    piece.crosses);
}

void ExpectKept(const std::vector<LanePiece>& pieces, const PackedPieces& packed) {
  EXPECT_EQ(packed.size(), pieces.size());
  size_t i = 0;
  packed.ForEach([&](const LanePiece& piece) {
    ASSERT_LT(i, pieces.size());
    ASSERT_EQ(FieldsOf(piece), FieldsOf(pieces[i])) << "piece " << i;
    ++i;
  });
  EXPECT_EQ(i, pieces.size());
}

LanePiece PieceAt(int64_t begin, int64_t end) {
  LanePiece piece;
  piece.begin = begin;
  piece.end = piece.proc_until = end;
  piece.goroutine = GoId{17};
  piece.proc = ProcId{3};
  piece.thread = ThreadId{4};
  piece.state = LaneState::kRunning;
  return piece;
}

TEST(PackedPieces, KeepsWhateverAPieceHas) {
  std::mt19937_64 random(3);
  const auto one_of = [&](std::vector<int64_t> values) { return values[random() % values.size()]; };
  std::vector<LanePiece> pieces;
  PackedPieces packed;
  int64_t time = 0;
  for (size_t i = 0; i < 20'000; ++i) {
    // Mostly forwards; now and then by hours, or back.
    time += one_of({0, 1, 1000, 50'000, 1, 64, i % 500 == 0 ? 5'000'000'000'000 : 7,
                    i % 300 == 0 ? -6'000'000'000 : 3});
    LanePiece piece = PieceAt(time, time + one_of({0, 1, 100, 4'294'967'295, 4'294'967'296}));
    if (i % 7 == 0) piece.proc_until = piece.end - 1;
    piece.goroutine =
        GoId{one_of({-1, 0, 1, 4'294'967'293, 4'294'967'294, 4'294'967'295,
                     std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()})};
    piece.proc = ProcId{one_of({-1, 0, 7, 1'000'000'000'000})};
    piece.thread = ThreadId{one_of({-1, 0, 12345})};
    piece.start = static_cast<StringId>(one_of({0, 0, 0, 0, 9}));
    piece.reason = static_cast<StringId>(one_of({0, 1, 2, 3}));
    piece.state = static_cast<LaneState>(random() % kLaneStates);
    piece.crosses = i % 11 == 0;
    pieces.push_back(piece);
    packed.Add(piece);
  }
  ExpectKept(pieces, packed);
  for (int i = 0; i < 200; ++i) {
    const int64_t from = pieces[random() % pieces.size()].begin + one_of({-1, 0, 1});
    const int64_t to = from + one_of({0, 1, 1000, 10'000'000'000});
    std::vector<LanePiece> expected;
    for (const LanePiece& piece : pieces) {
      if (piece.begin < to && piece.end > from) expected.push_back(piece);
    }
    size_t found = 0;
    packed.ForEachIn(from, to, [&](const LanePiece& piece) {
      ASSERT_LT(found, expected.size());
      ASSERT_EQ(FieldsOf(piece), FieldsOf(expected[found++]));
    });
    EXPECT_EQ(found, expected.size());
  }
  packed.Finish();
  ExpectKept(pieces, packed);
}

TEST(PackedPieces, TakesAQuarterOfTheMemoryWhereverATraceBegins) {
  constexpr int64_t kPieces = 100'000;
  for (const int64_t length : {1'000, 1'000'000, 900'000'000}) {
    PackedPieces packed;
    for (int64_t i = 0; i < kPieces; ++i) {
      packed.Add(PieceAt(1'000'000'000'000 + i * length, 1'000'000'000'000 + (i + 1) * length));
    }
    EXPECT_LT(packed.bytes(), kPieces * (length < 100'000'000 ? 17 : 30));
  }
}

}  // namespace packed_pieces_test
}  // namespace gotrace::internal
