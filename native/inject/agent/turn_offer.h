#pragma once
// The handover of a turn: a thread of the program that holds the GIL offers it, the tracer's thread takes it, and the first waits
// until it is over. One turn at a time.
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace gmt::inject {

/// Waits until `word` is no longer `seen`, it is woken, or `ns` have passed; may return early.
inline void futex_wait(uint32_t *word, uint32_t seen, uint64_t ns) {
  const timespec limit{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &limit, nullptr, 0);
}

inline void futex_wake(uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); }

class TurnOffer {
 public:
  /// Offers a turn (not 0) for a step. False: another one is under way.
  bool make(uint32_t turn, uint64_t step) {
    uint32_t none = kNone;
    if (!__atomic_compare_exchange_n(&word_, &none, kTaken, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return false;
    step_ = step;  // before the turn: whoever sees that has the step
    __atomic_store_n(&word_, turn, __ATOMIC_RELEASE);
    return true;
  }

  /// Takes what is offered: its turn, 0 = nothing is. Then `end` must follow.
  uint32_t take(uint64_t *step) {
    uint32_t offer = __atomic_load_n(&word_, __ATOMIC_ACQUIRE);
    if (offer == kNone || (offer & kTaken)) return kNone;
    if (!__atomic_compare_exchange_n(&word_, &offer, offer | kTaken, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      return kNone;
    *step = step_;
    return offer;
  }

  void end() {
    __atomic_store_n(&word_, kNone, __ATOMIC_RELEASE);
    futex_wake(&word_);
  }

  /// After `make`: returns when the turn is over, or no thread has taken it within `most` ns.
  template <typename Clock>
  void wait(uint32_t turn, uint64_t most, Clock now_ns) {
    const uint64_t until = now_ns() + most;
    while (uint32_t now = __atomic_load_n(&word_, __ATOMIC_ACQUIRE)) {
      const bool late = now == turn && now_ns() > until;
      if (late && __atomic_compare_exchange_n(&word_, &now, kNone, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) break;
      futex_wait(&word_, now, most);
    }
  }

  /// In a child after a fork, where the other thread is not.
  void reset() { word_ = kNone; }

 private:
  static constexpr uint32_t kNone = 0, kTaken = 1u << 31;
  uint32_t word_ = kNone;  ///< futex of the waiting thread: the turn, | kTaken while it is made or used
  uint64_t step_ = 0;
};

}  // namespace gmt::inject
