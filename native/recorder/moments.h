#pragma once
// Moments of a run that stay when what lies around them is freed: a checkpoint each, in a file of its own.
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "model/model.h"
#include "session/stored_checkpoints.h"
#include "trace/saved/zstd.h"

namespace gmt::recorder {

enum class MomentKind { kStep, kMark, kPeak };
struct Moment {
  uint64_t ns;  ///< session time
  MomentKind kind;
};

/// Behind `after_ns` and up to `until_ns`, in order: the ends of step 1, 2, 4, 8 … of each process, the peak of each layer, and
/// the marks in the launcher's facts. The state has more than these: a peak that was passed since is none.
std::vector<Moment> moments_of(const model::State &state, const std::string &session_json, uint64_t after_ns,
                               uint64_t until_ns);

/// Those of one directory.
class RetainedMoments {
 public:
  static constexpr size_t kMostMarks = 64;  ///< the newest

  explicit RetainedMoments(const std::string &directory);
  /// `moment`, as far as the events up to it are still to be had. A newer peak takes the place of the older one.
  void add(const Moment &moment, trace::Packer &packer);
  uint64_t bytes() const;

 private:
  struct File {
    std::string path;
    MomentKind kind;
    uint64_t bytes;
  };
  void drop(MomentKind kind, size_t most);

  const std::string directory_;
  std::deque<File> files_;  ///< oldest first
};

}  // namespace gmt::recorder
