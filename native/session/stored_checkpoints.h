#pragma once
// Checkpoints in files of a trace directory: what the events made that its logs have no more. The recorder (native/recorder) writes
// them; saving the trace holds it up for as long as it copies.
#include <cstdint>
#include <string>
#include <vector>

#include "trace/error.h"
#include "trace/saved/container_file.h"
#include "trace/saved/zstd.h"
#include "wire/files.h"

namespace gmt::session {

struct ModelledTrace;

/// A checkpoint, in a file of its own or in a saved trace.
struct CheckpointFile {
  std::string path;
  trace::CheckpointLocation location;
  std::string kind;  ///< of a moment that is kept for itself: what comes next may be gone; empty: to continue from
};

/// Those of a directory, oldest first.
std::vector<CheckpointFile> stored_checkpoints(const std::string &directory);

/// Writes what a session has read as a checkpoint, whole or not at all; `number` is unique among its kind. Gives its path.
trace::Result<std::string> store_checkpoint(const std::string &directory, uint64_t number, const std::string &kind,
                                            ModelledTrace &modelled, trace::Packer &packer);

/// Bytes that a file takes of the disk.
uint64_t disk_bytes(const std::string &path);

/// A byte of the directory's lock file. What holds one loses it when its program ends, however that happens.
class DirectoryLock {
 public:
  /// One program holds kRecorder; any number hold kSaver together, or one alone, which then gives space back. Who copies a trace that
  /// is still recorded holds kCopier alone, so that the one that saves it for good (together) is the last.
  enum Byte : int64_t { kRecorder = 0, kSaver = 1, kCopier = 2 };
  enum class Way { kAlone, kTogether, kWhenFree };  ///< kWhenFree: alone, without waiting
  DirectoryLock(const std::string &directory, Byte byte, Way way);
  bool held() const { return held_; }
  /// False: there can be no lock file, as where the disk is full.
  bool opened() const { return fd_ >= 0; }
  /// What the recorder that was there first wrote into the file.
  std::string text() const;
  void write(const std::string &text);

 private:
  Descriptor fd_;
  bool held_ = false;
};

}  // namespace gmt::session
