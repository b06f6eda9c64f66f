#pragma once
// Numbers for 64-bit keys, lock-free. A key's place is its number, so that a thread which finds a key need not wait for the one
// that entered it. Three levels, each searched one cache line (4 places) at a time:
//
//   | level 0 | level 1          | level 2                                   |
//
// A key goes to the first level with room in its line. A program has a few thousand stacks: they lie close together in level 0,
// where in one big table each would cost a miss in the cache and in the TLB, at every event.
// A training step looks at each of its stacks once, and has driven it out of the cache when the next step comes. But it comes to them
// in the same order: a place has the number of the one that followed it, and that one's line is fetched while the program works.
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
    Place *places = table();
    if (!places) return 0;
    if (key == 0) key = 1;
    const uint32_t first = line_of(0, Level0, key);
    if (__builtin_expect(__atomic_load_n(&places[first].key, __ATOMIC_RELAXED) == key, 1)) return first + 1;
    return number_beyond(places, key, is_new);
  }

  /// Fetches what followed `number` the last time, and notes that `number` followed `*before`, which it becomes.
  void prefetch_next(uint32_t number, uint32_t *before) {
    if (!number) return;
    Place *places = table();
    __builtin_prefetch(&places[__atomic_load_n(&places[number - 1].next, __ATOMIC_RELAXED)]);
    const uint32_t last = *before;
    *before = number;
    if (last && __atomic_load_n(&places[last - 1].next, __ATOMIC_RELAXED) != number - 1)
      __atomic_store_n(&places[last - 1].next, number - 1, __ATOMIC_RELAXED);
  }

  /// The key is new again when it comes the next time. Its number stays its own: another thread may have it by now.
  void forget(uint32_t number) {
    if (!number) return;
    uint64_t &key = table()[number - 1].key;
    __atomic_store_n(&key, ~__atomic_load_n(&key, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
  }

 private:
  struct Place {
    uint64_t key;
    uint32_t next;  ///< place of the key that came after this one
  };
  static constexpr uint32_t kLine = 4;
  static constexpr uint32_t kPlaces = Level0 + Level1 + Level2;

  /// Apart: few lines hold more than one key, so that finding one is little code.
  __attribute__((noinline)) static uint32_t number_beyond(Place *places, uint64_t key, bool *is_new) {
    if (uint32_t found = find(places, 0, Level0, key)) return found;
    if (uint32_t found = find(places, Level0, Level1, key)) return found;
    if (uint32_t found = find(places, Level0 + Level1, Level2, key)) return found;
    if (uint32_t made = enter(places, 0, Level0, key, is_new)) return made;
    if (uint32_t made = enter(places, Level0, Level1, key, is_new)) return made;
    return enter(places, Level0 + Level1, Level2, key, is_new);
  }

  static uint32_t line_of(uint32_t begin, uint32_t places, uint64_t key) {
    return begin + (static_cast<uint32_t>(key) & (places / kLine - 1)) * kLine;
  }

  static uint32_t find(const Place *places, uint32_t begin, uint32_t count, uint64_t key) {
    const uint32_t line = line_of(begin, count, key);
    for (uint32_t i = line; i < line + kLine; i++)
      if (__atomic_load_n(&places[i].key, __ATOMIC_RELAXED) == key) return i + 1;
    return 0;
  }

  static uint32_t enter(Place *places, uint32_t begin, uint32_t count, uint64_t key, bool *is_new) {
    const uint32_t line = line_of(begin, count, key);
    for (uint32_t i = line; i < line + kLine; i++) {
      uint64_t found = 0;
      if (__atomic_compare_exchange_n(&places[i].key, &found, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        *is_new = true;
        return i + 1;
      }
      if (found == key) return i + 1;  // another thread was faster
      if (found == ~key &&
          __atomic_compare_exchange_n(&places[i].key, &found, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        *is_new = true;
        return i + 1;
      }
    }
    return 0;
  }

  Place *table() {
    Place *places = __atomic_load_n(&places_, __ATOMIC_ACQUIRE);
    return __builtin_expect(places != nullptr, 1) ? places : make();
  }

  __attribute__((noinline)) Place *make() {
    constexpr size_t bytes = size_t{kPlaces} * sizeof(Place);
    void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return nullptr;
    madvise(at, bytes, MADV_WIPEONFORK);
    Place *none = nullptr;
    if (__atomic_compare_exchange_n(&places_, &none, static_cast<Place *>(at), false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
      return static_cast<Place *>(at);
    munmap(at, bytes);
    return none;
  }

  Place *places_;
};

}  // namespace gmt::inject
