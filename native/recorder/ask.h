#pragma once
// Answers what a program asks of its own trace while that is recorded: one question a line, one line of JSON each.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "session/session.h"

namespace gmt::recorder {

class Asked {
 public:
  /// Of the process `pid`, which records into `directory`, or will. Its path is not checked.
  Asked(std::string directory, uint32_t pid) : directory_(std::move(directory)), pid_(pid) {}

  /// Reads on. False: there was nothing more.
  bool turn();
  /// `state`: what the process has on each layer of each device, now. `window`: the same, and from here on `window` counts what is
  /// allocated. `lines LAYER FROM AT`: stacks whose blocks live that were allocated from the session time FROM on, at the time AT
  /// (0: now), with all that was told by then. All that the process did before it asked is in the answer.
  std::string answer(std::string_view question);

 private:
  bool known();
  void open();
  void catch_up();
  std::string state();
  std::string lines(std::string_view layer, uint64_t from_ns, uint64_t at_ns);

  const std::string directory_;
  const uint32_t pid_;
  std::unique_ptr<session::Session> session_;
  std::string problem_;           ///< why there is no session
  uint64_t window_ns_ = 0;        ///< when the windows began; 0: they did not
  bool window_is_whole_ = false;  ///< all of it was read by one model
};

}  // namespace gmt::recorder
