// Reading PyTorch's allocator from outside: the reader looks at this process, which has a stand-in with the same books.
#include "uprobe/before/torch.h"

#include <unistd.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "check.h"
#include "stand_in.h"

using namespace gmt::uprobe;

namespace {

struct Facts {
  uint64_t bytes;
  int device;
};
using Truth = std::map<uint64_t, Facts>;

/// Address space for segments, no memory behind it.
stand_in::World make_world() {
  stand_in::World world;
  auto next = std::make_shared<std::atomic<uint64_t>>(0x7f0000000000);
  world.take_segment = [next](uint64_t bytes, int) { return next->fetch_add((bytes + 0x1fffff) & ~0x1fffffull); };
  return world;
}

/// A world that writes down what is alive by the reports.
stand_in::World make_written_world(Truth *truth, std::mutex *lock) {
  stand_in::World world = make_world();
  world.report = [=](uint64_t address, int64_t bytes, uint64_t, uint64_t, int device) {
    const std::lock_guard<std::mutex> held(*lock);
    if (bytes > 0)
      (*truth)[address] = {static_cast<uint64_t>(bytes), device};
    else
      truth->erase(address);
  };
  return world;
}

/// No limit of time: what is read here is checked, however busy the machine is.
constexpr ReadLimits kPatient = {.nanoseconds = UINT64_MAX / 2};

std::string read_self(const stand_in::Base &allocator, BeforeMemory *out, const ReadLimits &limits = kPatient) {
  BoundedMemory memory(::getpid(), limits);
  return read_torch_allocator(memory, reinterpret_cast<uint64_t>(&allocator), out);
}

void check_equal(const BeforeMemory &seen, const Truth &truth) {
  CHECK_EQ(seen.blocks.size(), truth.size());
  for (const BeforeBlock &block : seen.blocks) {
    const auto known = truth.find(block.address);
    CHECK(known != truth.end());
    if (known == truth.end()) return;
    CHECK_EQ(block.bytes, known->second.bytes);
    CHECK_EQ(static_cast<int>(block.device), known->second.device);
  }
}

uint64_t sum(const std::vector<BeforeBlock> &blocks, int device) {
  uint64_t bytes = 0;
  for (const BeforeBlock &block : blocks) bytes += block.device == device ? block.bytes : 0;
  return bytes;
}

/// Allocates and frees by chance; gives what is alive.
std::vector<uint64_t> work(stand_in::Base &allocator, uint32_t seed, size_t rounds, int devices) {
  std::mt19937 random(seed);
  std::vector<uint64_t> live;
  for (size_t i = 0; i < rounds; i++) {
    if (!live.empty() && random() % 5 < 2) {
      const size_t which = random() % live.size();
      allocator.free(live[which]);
      live[which] = live.back();
      live.pop_back();
    } else {
      const uint64_t bytes = random() % 8 == 0 ? 1 + random() % (64 << 20) : 1 + random() % (200 << 10);
      live.push_back(allocator.allocate(bytes, static_cast<int>(random() % static_cast<uint32_t>(devices))));
    }
  }
  return live;
}

template <class Block>
void check_still(size_t rounds) {
  Truth truth;
  std::mutex lock;
  stand_in::World world = make_written_world(&truth, &lock);
  stand_in::Native<Block> allocator(&world, 3);
  const auto live = work(allocator, 7, rounds, 3);
  BeforeMemory seen;
  CHECK_EQ(read_self(allocator, &seen), "");
  CHECK(seen.whole);
  check_equal(seen, truth);
  for (int device = 0; device < 3; device++) {
    CHECK_EQ(sum(seen.blocks, device), allocator.device(device).allocated());
    CHECK_EQ(sum(seen.segments, device), allocator.device(device).reserved());
  }
  CHECK_EQ(seen.mapped.size(), 0u);
}

}  // namespace

TEST(every_version_is_read_to_the_byte) {
  for (const size_t rounds : {1, 40, 20000}) {
    check_still<stand_in::OldBlock>(rounds);
    check_still<stand_in::MiddleBlock>(rounds);
    check_still<stand_in::NewBlock>(rounds);
  }
}

TEST(an_allocator_that_holds_nothing) {
  stand_in::World world = make_world();
  stand_in::Native<stand_in::MiddleBlock> allocator(&world, 1);
  BeforeMemory seen;
  CHECK_EQ(read_self(allocator, &seen), "");
  CHECK_EQ(seen.blocks.size(), 0u);
  allocator.free(allocator.allocate(100, 0));
  CHECK_EQ(read_self(allocator, &seen), "");
  CHECK_EQ(seen.blocks.size(), 0u);
}

TEST(cached_segments_without_a_block_in_use_are_found_too) {
  stand_in::World world = make_world();
  stand_in::Native<stand_in::NewBlock> allocator(&world, 1);
  const uint64_t kept = allocator.allocate(100, 0);
  allocator.free(allocator.allocate(100 << 20, 0));  // the large pool holds no block in use
  BeforeMemory seen;
  CHECK_EQ(read_self(allocator, &seen), "");
  CHECK_EQ(seen.blocks.size(), 1u);
  CHECK_EQ(seen.blocks[0].address, kept);
  CHECK_EQ(seen.segments.size(), 2u);
  CHECK_EQ(sum(seen.segments, 0), allocator.device(0).reserved());
}

TEST(of_an_expandable_segment_what_is_mapped_counts) {
  stand_in::World world = make_world();
  stand_in::Native<stand_in::NewBlock> allocator(&world, 1);
  allocator.device(0).add_expandable(40 << 20, 400 << 20);
  allocator.allocate(3 << 20, 0);
  BeforeMemory seen;
  CHECK_EQ(read_self(allocator, &seen), "");
  CHECK_EQ(seen.segments.size(), 0u);
  CHECK_EQ(seen.mapped.size(), 1u);
  CHECK_EQ(sum(seen.mapped, 0), 40u << 20);
}

/// Blocks that nobody touches are all found, whatever goes on around them; what is found was alive at some moment.
template <class Block>
void check_busy() {
  Truth truth;
  std::mutex lock;
  stand_in::World world = make_written_world(&truth, &lock);
  stand_in::Native<Block> allocator(&world, 1);
  work(allocator, 3, 6000, 1);
  const Truth still = truth;
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 2; i++)
    threads.emplace_back([&, i] {
      for (uint32_t round = 0; !over; round++)
        for (const uint64_t address : work(allocator, i * 1000 + round, 300, 1)) allocator.free(address);
    });
  for (int round = 0; round < 20; round++) {
    BeforeMemory seen;
    CHECK_EQ(read_self(allocator, &seen), "");
    std::map<uint64_t, uint64_t> by_address;
    for (const BeforeBlock &block : seen.blocks) by_address[block.address] = block.bytes;
    size_t missing = 0;
    for (const auto &[address, facts] : still)
      missing += by_address.count(address) == 0 || by_address[address] != facts.bytes;
    CHECK_EQ(missing, 0u);
  }
  over = true;
  for (std::thread &thread : threads) thread.join();
}

TEST(blocks_that_nobody_touches_are_found_while_others_come_and_go) {
  check_busy<stand_in::OldBlock>();
  check_busy<stand_in::MiddleBlock>();
}

TEST(limits_hold) {
  stand_in::World world = make_world();
  stand_in::Native<stand_in::MiddleBlock> allocator(&world, 1);
  work(allocator, 5, 3000, 1);
  for (const uint64_t bytes : {0, 4096, 20000, 100000}) {
    BeforeMemory seen;
    CHECK(!read_self(allocator, &seen, {.bytes = bytes}).empty());
    CHECK_EQ(seen.blocks.size(), 0u);
  }
  BeforeMemory seen;
  CHECK(!read_self(allocator, &seen, {.nanoseconds = 0}).empty());
}

TEST(what_is_no_allocator_is_refused) {
  std::mt19937_64 random(11);
  std::vector<uint64_t> words(4096);
  BeforeMemory seen;
  for (int round = 0; round < 50; round++) {
    for (uint64_t &word : words) word = random() % 3 ? random() : reinterpret_cast<uint64_t>(&words[random() % 4096]);
    BoundedMemory memory(::getpid());
    CHECK(!read_torch_allocator(memory, reinterpret_cast<uint64_t>(words.data()), &seen).empty());
  }
  BoundedMemory memory(::getpid());
  CHECK(!read_torch_allocator(memory, 8, &seen).empty());
  CHECK_EQ(seen.blocks.size(), 0u);
}

/// Damage anywhere in the maps and blocks: never a crash, and never a block of no size.
TEST(damaged_books_do_no_harm) {
  std::mt19937_64 random(23);
  for (int round = 0; round < 60; round++) {
    stand_in::World world = make_world();
    auto *allocator = new stand_in::Native<stand_in::MiddleBlock>(&world, 1);  // not deleted: it is broken
    work(*allocator, 9, 200, 1);
    auto *words = reinterpret_cast<uint64_t *>(allocator);
    for (int i = 0; i < 40; i++) {
      uint64_t &word = words[random() % (sizeof *allocator / 8)];
      switch (random() % 4) {
        case 0:
          word = random();
          break;
        case 1:
          word ^= 1ull << random() % 64;
          break;
        case 2:
          word += 8 * (random() % 64);
          break;
        default:
          word = words[random() % (sizeof *allocator / 8)];
      }
    }
    BeforeMemory seen;
    read_self(*allocator, &seen);
    for (const BeforeBlock &block : seen.blocks) CHECK(block.bytes > 0 && block.address != 0);
  }
}

TEST(the_class_of_an_object_is_told) {
  stand_in::World world = make_world();
  stand_in::Native<stand_in::MiddleBlock> allocator(&world, 1);
  BoundedMemory memory(::getpid());
  CHECK(class_name(memory, reinterpret_cast<uint64_t>(&allocator)).find("Native") != std::string::npos);
  uint64_t nothing[4] = {};
  CHECK_EQ(class_name(memory, reinterpret_cast<uint64_t>(nothing)), "");
}

TEST_MAIN
