#pragma once
// Which optimizer step ends a training step. Most programs have one optimizer, and each of its steps does. With several (a GAN, one
// optimizer a layer or a task) a training step ends when one steps that has stepped in it already, so that an iteration counts
// once; that needs no guess which of them leads, and continues where one is replaced by another.
#include <stdint.h>

namespace gmt::inject {

/// Steps are counted with the GIL held.
class Steps {
 public:
  /// Counts from 1 again.
  void restart() {
    for (Place &place : places_) place = {};
    number_ = 0;
  }

  /// An optimizer, named by its address, has stepped: the number of the training step that this ends, from 1; 0 = it ends none.
  uint64_t stepped(const void *optimizer) {
    Place *place = find(optimizer);
    const bool again = place && place->optimizer == optimizer && place->number == number_;
    const bool ends = number_ == 0 || again;
    if (ends) ++number_;
    if (place) *place = {optimizer, number_};
    return ends ? number_ : 0;
  }

 private:
  static constexpr uint32_t kPlaces = 4096;  ///< a power of two
  static constexpr uint32_t kTries = 64;

  /// An optimizer, and the training step that ran when it stepped last; a place of an earlier one may be taken.
  struct Place {
    const void *optimizer;
    uint64_t number;
  };

  /// Where the optimizer stands, or could; null: there are too many, and those beyond end no step.
  Place *find(const void *optimizer) {
    Place *room = nullptr;
    auto at = static_cast<uint32_t>((reinterpret_cast<uintptr_t>(optimizer) * 0x9e3779b97f4a7c15ull) >> 40);
    for (uint32_t tries = 0; tries < kTries; ++tries, ++at) {
      Place &place = places_[at % kPlaces];
      if (place.optimizer == optimizer) return &place;
      if (!room && (!place.optimizer || place.number != number_)) room = &place;
      if (!place.optimizer) break;
    }
    return room;
  }

  Place places_[kPlaces];
  uint64_t number_;
};

}  // namespace gmt::inject
