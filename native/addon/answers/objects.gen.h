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
  /// False while rounds of a loop ('periodic') may be those of a set-up, such as building a model layer by layer.
  bool sure = {};
  /// Rounds of a loop ('periodic') in which one line alone allocates, as where weights are loaded.
  bool alone = {};
  /// Rounds of a loop ('periodic') without a backward pass, of a program that has some: they may be parts of a step.
  bool parts = {};
  /// Of a loop (periodic) of a program that has ended: how long it worked behind it without an event; else 0.
  uint64_t idle_ns = {};
  /// Until when it is known which pool has which memory (that of captured graphs, say): all until now where none was taken since; 0: never listed.
  uint64_t pools_ns = {};
  /// Of the ended steps, those in which events are missing (see StepAxis.flags).
  uint32_t touched = {};
};

struct Pause {
  uint32_t process = {};
  bool of_driver = {};
  uint64_t begin_ns = {};
  /// null: it lasts.
  uint64_t end_ns = {};
};

struct AnswerInfo {
  uint32_t process = {};
  /// Names the answer within its process; rises.
  uint32_t index = {};
  /// 0: without a request; then there may be several.
  uint32_t request = {};
  /// Of the event behind which it was found.
  uint64_t time_ns = {};
  /// False while parts are missing.
  bool complete = {};
};

}  // namespace gmt::addon
