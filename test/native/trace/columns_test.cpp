// Slots of a chunk, arranged by the kinds of their records, come back as they were, whatever they are.
#include <cstring>
#include <random>

#include "check.h"
#include "trace/saved/chunk_columns.h"
#include "wire/layout.h"

using namespace gmt;
using namespace gmt::test;

namespace {

using Bytes = std::vector<std::byte>;

/// Records of `kinds` kinds and events, as a thread writes them; now and then one that is damaged.
Bytes some_records(std::mt19937 &random, uint32_t kinds, uint32_t slots) {
  Bytes bytes(size_t{slots} * GMT_SLOT_BYTES);
  uint64_t sequence = random();
  for (uint32_t at = 0; at < slots;) {
    gmt_side_record slot{};
    for (uint8_t &byte : slot.payload) byte = random() % 3;
    slot.commit = random() % 3 ? ++sequence << 16 : GMT_SIDE_RECORD_BIT;
    slot.kind = static_cast<uint8_t>(random() % kinds);
    slot.slots = static_cast<uint16_t>(random() % 50 ? 1 + slot.kind % 4 : random());
    std::memcpy(bytes.data() + size_t{at} * GMT_SLOT_BYTES, &slot, GMT_SLOT_BYTES);
    at += slot.commit & GMT_SIDE_RECORD_BIT ? std::max<uint32_t>(slot.slots, 1) : 1;
  }
  return bytes;
}

}  // namespace

TEST(any_slots_come_back) {
  std::mt19937 random(1);
  for (const uint32_t kinds : {1u, 3u, 20u, 256u}) {
    for (const uint32_t slots : {0u, 1u, 7u, 500u, GMT_SLOTS_PER_CHUNK}) {
      Bytes bytes = some_records(random, kinds, slots);
      if (kinds == 3) {
        for (std::byte &byte : bytes) byte = static_cast<std::byte>(random());
      }
      const Bytes columns = trace::to_columns(bytes);
      Bytes again(bytes.size());
      CHECK(trace::from_columns(columns, again));
      CHECK(again == bytes);
    }
  }
}

TEST(columns_of_other_slots_are_refused_or_harmless) {
  std::mt19937 random(2);
  const Bytes bytes = some_records(random, 9, 300), columns = trace::to_columns(bytes);
  Bytes again(bytes.size());
  size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    Bytes bad = columns;
    if (round % 4 == 0) bad.resize(random() % bad.size());
    for (uint32_t i = 0; i < 1 + random() % 3 && !bad.empty(); ++i)
      bad[random() % std::min<size_t>(bad.size(), 400)] = static_cast<std::byte>(random());
    refused += !trace::from_columns(bad, again);
  }
  CHECK(refused > 10'000);
}

TEST_MAIN
