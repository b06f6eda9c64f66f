// Turns are handed over with their step, whichever thread looks first; built so that each race is seen, where the compiler can do that.
#include "inject/agent/turn_offer.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "check.h"

namespace {

using gmt::inject::TurnOffer;

uint64_t now_ns() { return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()); }

/// The taker looks all the time, as the agent's thread does when it wakes by itself just then.
TEST(a_turn_comes_with_its_own_step) {
  static TurnOffer offer;
  constexpr uint64_t kTurns = 20'000;
  std::atomic<bool> over{false};
  uint64_t wrong = 0, taken = 0;
  std::thread taker([&] {
    while (!over) {
      uint64_t step = 0;
      const uint32_t turn = offer.take(&step);
      if (!turn) continue;
      taken++;
      wrong += turn != step % 3 + 1;
      offer.end();
    }
  });
  for (uint64_t step = 0; step < kTurns; step++) {
    const auto turn = static_cast<uint32_t>(step % 3 + 1);
    CHECK(offer.make(turn, step));
    offer.wait(turn, 10'000'000'000, now_ns);
  }
  over = true;
  taker.join();
  CHECK_EQ(taken, kTurns);
  CHECK_EQ(wrong, 0u);
}

TEST(a_turn_that_nobody_takes_is_withdrawn) {
  static TurnOffer offer;
  CHECK(offer.make(1, 5));
  CHECK(!offer.make(2, 6));
  offer.wait(1, 1'000'000, now_ns);
  uint64_t step = 0;
  CHECK_EQ(offer.take(&step), 0u);
  CHECK(offer.make(2, 6));
  CHECK_EQ(offer.take(&step), 2u);
  CHECK_EQ(step, 6u);
}

}  // namespace

TEST_MAIN
