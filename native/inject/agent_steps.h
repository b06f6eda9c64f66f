#pragma once
// Which optimizer step ends a training step. Most programs have one optimizer, and each of its steps does. With several (a GAN, one
// optimizer a layer) a training step ends when the one that began steps again, so that an iteration counts once.
#include <stdint.h>

namespace gmt::inject {

/// Steps are counted with the GIL held.
class Steps {
 public:
  /// An optimizer, named by its address, has stepped: the number of the training step that this ends, from 1; 0 = it ends none.
  uint64_t stepped(const void *optimizer) {
    if (!leader_ || optimizer == leader_) return led(optimizer);
    if (!other_) other_ = optimizer;
    if (other_ != optimizer || ++others_ <= kGone + 4 * most_) return 0;
    // The leader has not stepped for far longer than ever before: it is gone, and another leads from here on.
    most_ = 0;
    return led(optimizer);
  }

 private:
  static constexpr uint32_t kGone = 32;

  uint64_t led(const void *optimizer) {
    if (others_ > most_) most_ = others_;
    leader_ = optimizer;
    other_ = nullptr;
    others_ = 0;
    return ++number_;
  }

  const void *leader_, *other_;  ///< other: the first that stepped after the leader
  uint32_t others_, most_;       ///< steps of `other_` since the leader's last, and the most that ever were
  uint64_t number_;
};

}  // namespace gmt::inject
