#include "uprobe/python/threads.h"

#include <algorithm>
#include <cstring>

#include "python/versions.h"

namespace gmt::uprobe {
namespace {

// By DWARF of release builds, as the tables of native/python/layouts.h.
constexpr ThreadPlaces kPlaces39 = {32, 8, 8, 176};
constexpr ThreadPlaces kPlaces311 = {40, 16, 8, 152};
constexpr ThreadPlaces kPlaces312 = {40, 72, 8, 136};

constexpr size_t kMostThreads = 4096;
constexpr size_t kMostRuntimeBytes = 1u << 20;
constexpr uint32_t kMostKeys = 1024, kKeysInBlock = 32, kEntryBytes = 16, kMostFirstBlock = 1u << 16;

/// A Py_tss_t.
struct Key {
  uint32_t created, key;
};

struct Thread {
  uint64_t state;
  uint64_t pointer;  ///< its pthread_t, which glibc makes the thread pointer
};

uint64_t main_interpreter(const ForeignProcess &process, uint64_t runtime, const ThreadPlaces &places) {
  return process.read<uint64_t>(runtime + places.interpreters + 8).value_or(0);
}

std::vector<Thread> threads_of(const ForeignProcess &process, uint64_t runtime, const ThreadPlaces &places) {
  std::vector<Thread> threads;
  const uint64_t interpreter = main_interpreter(process, runtime, places);
  uint64_t state = interpreter ? process.read<uint64_t>(interpreter + places.threads).value_or(0) : 0;
  while (state && threads.size() < kMostThreads) {
    const auto pointer = process.read<uint64_t>(state + places.thread_id);
    if (!pointer) break;
    threads.push_back({state, *pointer});
    state = process.read<uint64_t>(state + places.thread_next).value_or(0);
  }
  return threads;
}

/// Whether the thread's value of the key is its state.
bool has_state(const ForeignProcess &process, const Thread &thread, uint32_t blocks, uint32_t key) {
  const auto block = process.read<uint64_t>(thread.pointer + blocks + 8 * (key / kKeysInBlock));
  if (!block || !*block) return false;
  return process.read<uint64_t>(*block + key % kKeysInBlock * kEntryBytes + 8) == thread.state;
}

/// glibc's description of one field, for libthread_db: bits of an element, elements, offset.
struct Descriptor {
  uint32_t bits, count, offset;
};

}  // namespace

ThreadPlaces thread_places(uint32_t version, const std::vector<char> &description) {
  if (version < 0x030b0000) return kPlaces39;
  if (version < 0x030c0000) return kPlaces311;
  if (version < python::kFirstSelfDescribed) return kPlaces312;
  const python::DebugWords &at = python::debug_words(version);
  auto field = [&](uint8_t index) { return static_cast<uint16_t>(python::debug_word(description.data(), index)); };
  return {field(python::kInterpretersWord), field(python::kThreadsWord), field(at.thread_next), field(at.thread_id)};
}

bool is_initialized(const ForeignProcess &process, uint64_t runtime, const ThreadPlaces &places) {
  return !threads_of(process, runtime, places).empty();
}

uint32_t thread_data_offset(const ForeignProcess &process, const std::vector<MappedFile> &files) {
  for (const MappedFile &file : files) {
    // Before glibc 2.34 threads were a library of their own.
    if (!file.name().starts_with("libc.so.") && !file.name().starts_with("libc-2.") &&
        !file.name().starts_with("libpthread"))
      continue;
    const auto symbols = MappedSymbols::read(process, file);
    if (!symbols) continue;
    auto describe = [&](const char *name) {
      const auto symbol = symbols->find(name);
      return symbol ? process.read<Descriptor>(symbol->address).value_or(Descriptor{}) : Descriptor{};
    };
    const Descriptor blocks = describe("_thread_db_pthread_specific");
    const Descriptor entries = describe("_thread_db_pthread_key_data_level2_data");
    const Descriptor value = describe("_thread_db_pthread_key_data_data");
    if (blocks.offset && entries.bits == kEntryBytes * 8 && entries.count == kKeysInBlock && entries.offset == 0 &&
        value.offset == 8)
      return blocks.offset;
  }
  return 0;
}

bool find_thread_key(const ForeignProcess &process, const ThreadPlaces &places, uint32_t hint, size_t runtime_bytes,
                     gmt_python_interpreter &in) {
  const auto threads = threads_of(process, in.runtime, places);
  std::vector<char> runtime(std::min(runtime_bytes, kMostRuntimeBytes));
  if (!process.read(in.runtime, runtime.data(), runtime.size())) return false;
  auto try_at = [&](size_t at) {
    Key key;
    if (at + sizeof key > runtime.size()) return false;
    memcpy(&key, runtime.data() + at, sizeof key);
    if (key.created != 1 || key.key >= kMostKeys) return false;
    for (const Thread &thread : threads) {
      if (!has_state(process, thread, in.blocks, key.key)) continue;
      const auto first = process.read<uint64_t>(thread.pointer + in.blocks);
      if (!first || *first - thread.pointer >= kMostFirstBlock) continue;
      in.thread_key = static_cast<uint32_t>(at);
      in.first_block = static_cast<uint32_t>(*first - thread.pointer);
      return true;
    }
    return false;
  };
  if (try_at(hint)) return true;
  for (size_t at = 0; at + sizeof(Key) <= runtime.size(); at += 4)
    if (try_at(at)) return true;
  return false;
}

}  // namespace gmt::uprobe
