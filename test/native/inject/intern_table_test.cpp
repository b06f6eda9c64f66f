// Numbers for keys: the same one each time, one each, also where lines are full and threads race.
#include "inject/log/intern_table.h"

#include <set>
#include <thread>
#include <vector>

#include "check.h"

namespace {

using gmt::inject::InternTable;

TEST(a_key_keeps_its_number) {
  static InternTable<64, 128, 256> table;
  bool is_new = false;
  const uint32_t first = table.number(7, &is_new);
  CHECK(first != 0 && is_new);
  CHECK_EQ(table.number(7, &is_new), first);
  CHECK(!is_new);
  CHECK(table.number(8, &is_new) != first && is_new);
  table.forget(first);
  CHECK(table.number(7, &is_new) != 0 && is_new);
}

/// A thread enters a key, another one has its number, the first one cannot describe it: no other key gets that number.
TEST(a_forgotten_number_stays_that_of_its_key) {
  static InternTable<64, 128, 256> table;
  bool is_new = false;
  const uint32_t number = table.number(7, &is_new);
  table.forget(number);
  for (uint64_t i = 1; i <= 12; i++) CHECK(table.number(i << 32 | 7, &is_new) != number);
  CHECK_EQ(table.number(7, &is_new), number);
  CHECK(is_new);
  CHECK_EQ(table.number(7, &is_new), number);
  CHECK(!is_new);
}

/// Keys of one line: level 0 takes four, the next ones four each, then there is no room.
TEST(a_full_line_goes_on_in_the_next_level) {
  static InternTable<64, 128, 256> table;
  std::vector<uint32_t> numbers;
  bool is_new = false;
  for (uint64_t i = 1; i <= 12; i++) numbers.push_back(table.number(i << 32, &is_new));
  CHECK_EQ(std::set<uint32_t>(numbers.begin(), numbers.end()).size(), 12u);
  CHECK(numbers[3] <= 64 && numbers[4] > 64 && numbers[4] <= 64 + 128 && numbers[8] > 64 + 128);
  for (uint64_t i = 1; i <= 12; i++) {
    CHECK_EQ(table.number(i << 32, &is_new), numbers[i - 1]);
    CHECK(!is_new);
  }
  CHECK_EQ(table.number(uint64_t{13} << 32, &is_new), 0u);
}

TEST(what_is_prefetched_changes_no_number) {
  static InternTable<64, 128, 256> table;
  uint32_t before = 0;
  bool is_new = false;
  std::vector<uint32_t> numbers;
  for (int round = 0; round < 3; round++)
    for (uint64_t key = 1; key <= 40; key++) {
      const uint32_t number = table.number(key * 0x9e3779b97f4a7c15ull, &is_new);
      CHECK_EQ(is_new, round == 0);
      table.prefetch_next(number, &before);
      CHECK_EQ(before, number);
      if (round == 0) numbers.push_back(number);
      CHECK_EQ(number, numbers[key - 1]);
    }
  table.prefetch_next(0, &before);  // there was no room for the key
  CHECK_EQ(before, numbers.back());
}

TEST(threads_agree) {
  static InternTable<1024, 2048, 4096> table;
  constexpr uint64_t kKeys = 500;
  std::vector<uint32_t> numbers[4];
  uint32_t made[4] = {};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; t++)
    threads.emplace_back([&, t] {
      uint32_t before = 0;
      for (uint64_t key = 1; key <= kKeys; key++) {
        bool is_new = false;
        numbers[t].push_back(table.number(key * 0xd1b54a32d192ed03ull, &is_new));
        table.prefetch_next(numbers[t].back(), &before);
        made[t] += is_new;
      }
    });
  for (std::thread &thread : threads) thread.join();
  for (uint32_t t = 1; t < 4; t++) CHECK(numbers[t] == numbers[0]);
  CHECK_EQ(made[0] + made[1] + made[2] + made[3], kKeys);
  CHECK_EQ(std::set<uint32_t>(numbers[0].begin(), numbers[0].end()).size(), kKeys);
}

}  // namespace

TEST_MAIN
