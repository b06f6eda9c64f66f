#pragma once
// Answers queries of a program about its own trace while that is recorded: a line for each line, of records (\x1e) of fields (\x1f).
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "session/modelled_trace.h"

namespace gmt::recorder {

class QueryServer {
 public:
  /// Of the process `pid`, which records into `directory`, or will.
  QueryServer(std::string directory, uint32_t pid) : directory_(std::move(directory)), pid_(pid) {}

  /// Reads on. False: there was nothing more.
  bool turn();
  /// All that the process did before the query is in the answer.
  /// `state`: "state", when the windows began (0: never), whether all since then was read, simulated, recording, events lost; then for each
  /// layer and device live bytes, live blocks, peak, what the framework's cache reserves, the window's peak and its time.
  /// `window`: the windows begin here; then the same.
  /// `lines LAYER FROM AT`: "lines"; then for each stack of what was allocated from the session time FROM on and lives at AT (0: now) bytes,
  /// blocks, library, number of the user's frame (-1: none), and three fields a frame.
  /// "problem" and a sentence, if it cannot be answered.
  std::string answer(const std::string &query);

 private:
  void open();
  void catch_up();
  std::string state() const;
  std::string lines(std::string_view layer, uint64_t from_ns, uint64_t at_ns);

  const std::string directory_;
  const uint32_t pid_;
  std::unique_ptr<session::ModelledTrace> modelled_;
  std::string problem_;  ///< why there is no trace
  uint64_t window_ns_ = 0;
  bool window_is_whole_ = false;
};

}  // namespace gmt::recorder
