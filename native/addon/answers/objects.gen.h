#pragma once
// What objects of answers are made from. Made by test/project/schema/generate.mjs from extension/protocol/schema; change it there.
#include <cstdint>
#include "model/state/types.h"

namespace gmt::addon {

struct ProcessSteps {
  uint32_t process = {};
  model::StepSource source = {};
  /// Steps that have ended.
  uint32_t count = {};
  /// End of the last one, 0 without one.
  uint64_t last_end_ns = {};
  /// The site whose allocation begins a step ('periodic'), else null.
  uint32_t anchor_site = {};
  /// False while rounds of a loop ('periodic') may be those of a set-up, such as building a model layer by layer.
  bool sure = {};
  /// Of the ended steps, those in which events are missing (see StepAxis.flags).
  uint32_t touched = {};
};

struct Pause {
  uint32_t process = {};
  bool of_driver = {};
  uint64_t begin_ns = {};
  /// null: it lasts.
  uint64_t end_ns = {};
  /// The step that was running when it began.
  uint32_t begin_step = {};
  /// The one when it ended.
  uint32_t end_step = {};
};

struct ThreadHabit {
  uint32_t process = {};
  uint32_t thread = {};
  model::Layer layer = {};
  uint64_t allocations = {};
  /// Running estimate, right to about 5 %.
  double median_bytes = {};
  uint64_t largest_bytes = {};
  uint64_t largest_ns = {};
  uint32_t largest_site = {};
};

struct AnswerInfo {
  uint32_t process = {};
  /// Names the answer within its process; rises.
  uint32_t index = {};
  /// 0: nobody asked; then there may be several.
  uint32_t request = {};
  /// Of the event behind which it was found.
  uint64_t time_ns = {};
  /// False while parts are missing.
  bool complete = {};
  uint64_t bytes = {};
};

}  // namespace gmt::addon
