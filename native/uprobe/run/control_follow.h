#pragma once
// Follows `control` in the trace directory: the launcher's switch for recording (wire/layout.h).
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "wire/files.h"
#include "wire/layout.h"

namespace gmt::uprobe {

class ControlFollow {
 public:
  /// `directory`: open on the trace directory, for as long as this lives.
  explicit ControlFollow(int directory) : directory_(directory) {
    // The file may be made later, so the folder is watched; writing is by a mapping, which shows when the file is closed.
    watch_ = Descriptor(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    const std::string folder = "/proc/self/fd/" + std::to_string(directory);
    if (::inotify_add_watch(watch_, folder.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO) < 0) watch_ = Descriptor();
    map();
    if (control_) seen_ = __atomic_load_n(&control_->generation, __ATOMIC_RELAXED);
  }
  ~ControlFollow() {
    if (control_) ::munmap(const_cast<gmt_control *>(control_), sizeof *control_);
  }

  bool recording() const { return !control_ || __atomic_load_n(&control_->recording, __ATOMIC_RELAXED) != 0; }
  /// Becomes readable when the switch was touched; -1: there is none, poll.
  int descriptor() const { return watch_; }
  /// True: it was switched since the last call. `missed`: an even number of times, so that it is what it was.
  bool changed(bool *missed) {
    const bool touched = drain();
    const bool before = recording();
    const bool fresh = !control_;
    if (fresh && !touched) return false;
    if (fresh) map();
    if (!control_) return false;
    const uint32_t now = __atomic_load_n(&control_->generation, __ATOMIC_ACQUIRE);
    if (fresh) {  // the file has just been made: without it everything was recorded
      seen_ = now;
      *missed = false;
      return before != recording();
    }
    *missed = (now - seen_) % 2 == 0;
    const bool switched = now != seen_;
    seen_ = now;
    return switched;
  }

 private:
  void map() {
    const Descriptor fd(open_file("control", O_RDONLY, FileLinks::kRefused, directory_));
    if (fd < 0) return;
    struct stat facts {};
    if (::fstat(fd, &facts) == 0 && facts.st_size >= static_cast<off_t>(sizeof *control_)) {
      void *at = ::mmap(nullptr, sizeof *control_, PROT_READ, MAP_SHARED, fd, 0);
      if (at != MAP_FAILED) control_ = static_cast<const gmt_control *>(at);
    }
    if (!control_ || __atomic_load_n(&control_->magic, __ATOMIC_ACQUIRE) == GMT_CONTROL_MAGIC) return;
    ::munmap(const_cast<gmt_control *>(control_), sizeof *control_);
    control_ = nullptr;
  }
  /// false: the folder's files were not touched
  bool drain() const {
    char events[4096];
    bool any = watch_ < 0;
    while (watch_ >= 0 && ::read(watch_, events, sizeof events) > 0) any = true;
    return any;
  }

  int directory_;
  Descriptor watch_;
  const gmt_control *control_ = nullptr;
  uint32_t seen_ = 0;
};

}  // namespace gmt::uprobe
