#pragma once
// Numbers for 64-bit keys, lock-free. A key's place is its number, so that a thread which finds a key need not wait for the one
// that entered it. Three levels, each searched one cache line (8 places) at a time:
//
//   | level 0 | level 1          | level 2                                   |
//
// A key goes to the first level with room in its line. A program has a few thousand stacks: they lie close together in level 0,
// where in one big table each would cost a miss in the cache and in the TLB, at every event.
// The kernel wipes the table in a forked child, whose log starts empty.
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

namespace gmt::inject {

template <uint32_t Level0, uint32_t Level1, uint32_t Level2>
class InternTable {
 public:
  /// Number of `key`, from 1; `*is_new` where this call entered it; 0: no room around there.
  uint32_t number(uint64_t key, bool *is_new) {
    *is_new = false;
    uint64_t *places = table();
    if (!places) return 0;
    if (key == 0) key = 1;
    if (uint32_t found = find(places, 0, Level0, key)) return found;
    if (uint32_t found = find(places, Level0, Level1, key)) return found;
    if (uint32_t found = find(places, Level0 + Level1, Level2, key)) return found;
    if (uint32_t made = enter(places, 0, Level0, key, is_new)) return made;
    if (uint32_t made = enter(places, Level0, Level1, key, is_new)) return made;
    return enter(places, Level0 + Level1, Level2, key, is_new);
  }

  /// Takes a key out again; its number is not given to another one before that one has the same line.
  void forget(uint32_t number) {
    if (number) __atomic_store_n(&table()[number - 1], 0, __ATOMIC_RELAXED);
  }

 private:
  static constexpr uint32_t kLine = 8;

  static uint32_t line_of(uint32_t begin, uint32_t places, uint64_t key) {
    return begin + (static_cast<uint32_t>(key) & (places / kLine - 1)) * kLine;
  }

  static uint32_t find(const uint64_t *places, uint32_t begin, uint32_t count, uint64_t key) {
    const uint32_t line = line_of(begin, count, key);
    for (uint32_t i = line; i < line + kLine; i++)
      if (__atomic_load_n(&places[i], __ATOMIC_RELAXED) == key) return i + 1;
    return 0;
  }

  static uint32_t enter(uint64_t *places, uint32_t begin, uint32_t count, uint64_t key, bool *is_new) {
    const uint32_t line = line_of(begin, count, key);
    for (uint32_t i = line; i < line + kLine; i++) {
      uint64_t found = 0;
      if (__atomic_compare_exchange_n(&places[i], &found, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        *is_new = true;
        return i + 1;
      }
      if (found == key) return i + 1;  // another thread was faster
    }
    return 0;
  }

  uint64_t *table() {
    uint64_t *places = __atomic_load_n(&places_, __ATOMIC_ACQUIRE);
    return __builtin_expect(places != nullptr, 1) ? places : make();
  }

  __attribute__((noinline)) uint64_t *make() {
    constexpr size_t bytes = (size_t{Level0} + Level1 + Level2) * sizeof(uint64_t);
    void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return nullptr;
    madvise(at, bytes, MADV_WIPEONFORK);
    uint64_t *none = nullptr;
    if (__atomic_compare_exchange_n(&places_, &none, static_cast<uint64_t *>(at), false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
      return static_cast<uint64_t *>(at);
    munmap(at, bytes);
    return none;
  }

  uint64_t *places_;
};

}  // namespace gmt::inject
