#pragma once
// Follows `control` in the trace directory: the launcher's switch for recording (wire/layout.h).
#include <cstdint>

#include "wire/layout.h"

namespace gmt::uprobe {

class ControlFollow {
 public:
  /// `directory`: open on the trace directory, for as long as this lives.
  explicit ControlFollow(int directory);
  ~ControlFollow();
  ControlFollow(const ControlFollow &) = delete;
  ControlFollow &operator=(const ControlFollow &) = delete;

  /// What is asked for now.
  bool recording() const;
  /// Becomes readable when the switch was touched; -1: there is none, poll.
  int descriptor() const { return watch_; }
  /// True: it was switched since the last call. `missed`: an even number of times, so that it is what it was.
  bool changed(bool *missed);

 private:
  void map();
  bool drain() const;  ///< false: the folder's files were not touched

  int directory_;
  int watch_ = -1;
  const gmt_control *control_ = nullptr;
  uint32_t seen_ = 0;
};

}  // namespace gmt::uprobe
