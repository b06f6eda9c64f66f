// A chunk that was packed reads as it was written, however full it is and whatever its last record is.
#include <cstdlib>
#include <cstring>

#include "check.h"
#include "trace/saved/log_builder.h"
#include "trace/saved/packed_log.h"

using namespace gmt;
using namespace gmt::test;

namespace {

using Bytes = std::vector<std::byte>;

struct Filled {
  Bytes chunk = Bytes(GMT_CHUNK_BYTES);
  uint32_t slots = 0;

  std::byte *take(uint32_t count) {
    std::byte *place = chunk.data() + GMT_CHUNK_HEADER_BYTES + size_t{slots} * GMT_SLOT_BYTES;
    slots += count;
    return place;
  }
  void event() {
    const gmt_event one{uint64_t{slots + 1} << 16, 0, 0, 0, 0};
    std::memcpy(take(1), &one, sizeof one);
  }
  /// A record of a kind, whose last `zeros` bytes are zero.
  void record(uint8_t kind, uint16_t count, uint32_t zeros) {
    const uint32_t bytes = count * GMT_SLOT_BYTES - static_cast<uint32_t>(offsetof(gmt_side_record, payload));
    const gmt_side_record head{GMT_SIDE_RECORD_BIT, kind, 0, count, bytes, {}};
    std::byte *place = take(count);
    std::memset(place, 0xff, size_t{count} * GMT_SLOT_BYTES - zeros);
    std::memcpy(place, &head, offsetof(gmt_side_record, payload));
  }
};

/// `filling` slots are taken, the last `count` of them by a record that ends in zeros; 0: all by events.
Filled filled(uint32_t filling, uint8_t kind, uint16_t count, uint32_t zeros) {
  Filled out;
  gmt_chunk_header header{};
  header.magic = GMT_CHUNK_MAGIC;
  std::memcpy(out.chunk.data(), &header, sizeof header);
  while (out.slots + count < filling) out.event();
  if (count > 0) out.record(kind, count, zeros);
  return out;
}

class PackedFile {
 public:
  explicit PackedFile(const TemporaryFolder &folder) : writer_(folder / "x.gputrace"), path_(folder / "x.gputrace") {}

  void add(Filled one) {
    packer_.add(one.chunk);
    all_.push_back(std::move(one));
  }
  /// How many do not come back.
  size_t wrong() {
    packer_.finish(gmt_file_header{});
    CHECK(!writer_.finish());
    auto map = trace::FileMap::open(path_, 4096, std::filesystem::file_size(path_) - 4096);
    trace::PackedLog log(map.value(), {});
    CHECK_EQ(log.chunks(), all_.size());
    size_t wrong = 0;
    for (size_t i = 0; i < all_.size(); ++i) {
      const auto slots = log.slots(map.value(), i);
      const size_t bytes = size_t{all_[i].slots} * GMT_SLOT_BYTES;
      wrong += slots.size() != bytes || std::memcmp(slots.data(), all_[i].chunk.data() + GMT_CHUNK_HEADER_BYTES, bytes);
      log.forget(i);
    }
    return wrong;
  }

 private:
  trace::TraceWriter writer_;
  std::string path_;
  trace::LogPacker packer_{writer_};
  std::vector<Filled> all_;
};

}  // namespace

// GMT_TEST_LONG=1: every one; else the fullest ones, and some of the others.
TEST(every_filling_of_a_chunk) {
  const uint32_t step = std::getenv("GMT_TEST_LONG") ? 1 : 67;
  for (uint32_t first = 1; first <= GMT_SLOTS_PER_CHUNK; first += 512) {
    const TemporaryFolder folder;
    PackedFile file(folder);
    for (uint32_t filling = first; filling < std::min(first + 512, GMT_SLOTS_PER_CHUNK + 1); ++filling) {
      if (filling % step != 0 && filling + 40 < GMT_SLOTS_PER_CHUNK) continue;
      const auto count = static_cast<uint16_t>(std::min(filling % 5, filling));
      file.add(filled(filling, static_cast<uint8_t>(filling % 25), count, filling % 145 * count / 5));
    }
    CHECK_EQ(file.wrong(), 0u);
  }
}

TEST(every_last_record_of_a_full_chunk) {
  for (uint16_t count = 1; count <= 5; ++count) {
    const TemporaryFolder folder;
    PackedFile file(folder);
    const uint32_t most = count * GMT_SLOT_BYTES - static_cast<uint32_t>(offsetof(gmt_side_record, payload));
    for (uint32_t zeros = 0; zeros <= most; ++zeros) {
      for (const uint32_t left : {0u, 1u}) {
        if (left == 0 || zeros % 8 == 0)
          file.add(filled(GMT_SLOTS_PER_CHUNK - left, static_cast<uint8_t>(zeros % 25), count, zeros));
      }
    }
    CHECK_EQ(file.wrong(), 0u);
  }
}

TEST(one_record_fills_the_chunk) {
  const TemporaryFolder folder;
  PackedFile file(folder);
  for (const uint32_t zeros : {0u, 31u, 32u, 4096u, GMT_SLOTS_PER_CHUNK * GMT_SLOT_BYTES - 16})
    file.add(filled(GMT_SLOTS_PER_CHUNK, GMT_ANSWER, GMT_SLOTS_PER_CHUNK, zeros));
  CHECK_EQ(file.wrong(), 0u);
}

TEST_MAIN
