#pragma once
// Files at paths that other people can have made. All that is native opens, creates, renames and deletes them here; the stage `lint`
// forbids it elsewhere. For the library in the traced program too: libc alone.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gmt {

/// A descriptor, which is closed with this object; -1: none.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor &&other) noexcept { *this = static_cast<Descriptor &&>(other); }
  Descriptor &operator=(Descriptor &&other) noexcept {
    const int own = fd_;
    fd_ = other.fd_;
    other.fd_ = own;
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  operator int() const { return fd_; }

 private:
  int fd_ = -1;
};

enum class FileLinks { kFollowed, kRefused };

/// What stands for errno where a file is there but is not what it should be.
enum : int { kNotRegular = EMEDIUMTYPE, kNotOwn = EPERM, kManyNames = EMLINK };

/// What errno means of a file, for the middle of a sentence.
inline const char *file_problem(int error) {
  return error == kNotRegular  ? "it is not a regular file"
         : error == kManyNames ? "it has several names (hard links)"
         : error == ELOOP      ? "it is a symbolic link"
                               : strerror(error);
}

/// By the system call, not by fstat: before glibc 2.33 that is no function of its own, and old containers forbid statx.
inline bool facts_of(int fd, struct stat *facts) { return syscall(SYS_fstat, fd, facts) == 0; }

inline int refuse_file(int fd, int error) {
  close(fd);
  return errno = error, -1;
}

/// `fd`, where it is a regular file; of one that is written to, its only name. Else -1, and it is closed.
inline int checked_file(int fd, bool written) {
  struct stat facts;
  if (fd < 0) return -1;
  if (!facts_of(fd, &facts)) return refuse_file(fd, errno);
  if (!S_ISREG(facts.st_mode)) return refuse_file(fd, kNotRegular);
  return written && facts.st_nlink > 1 ? refuse_file(fd, kManyNames) : fd;
}

/// Opens a regular file, and never waits for the other end of a FIFO. `flags` as of open(). -1: errno has the reason.
inline int open_file(const char *path, int flags, FileLinks links, int folder = AT_FDCWD) {
  const int more = O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (links == FileLinks::kRefused ? O_NOFOLLOW : 0);
  return checked_file(openat(folder, path, flags | more, 0600), (flags & O_ACCMODE) != O_RDONLY);
}

/// Exactly `bytes` from `offset`. False: they are not all there.
inline bool read_all(int fd, uint64_t offset, void *to, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t n = pread(fd, static_cast<char *>(to) + done, bytes - done, static_cast<off_t>(offset + done));
    if (n == 0 || (n < 0 && errno != EINTR)) return false;
    if (n > 0) done += static_cast<uint64_t>(n);
  }
  return true;
}

/// The same, where it belongs to this user and no other user may write it: its content is this user's.
inline int open_own_file(const char *path) {
  const int fd = open_file(path, O_RDONLY, FileLinks::kRefused);
  struct stat facts;
  if (fd < 0 || (facts_of(fd, &facts) && facts.st_uid == geteuid() && !(facts.st_mode & 022))) return fd;
  return refuse_file(fd, kNotOwn);
}

/// Once more, what this process has made itself.
inline int open_again(const char *path) { return open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW); }

/// Opens a folder.
inline int open_folder(const char *path, FileLinks links) {
  return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (links == FileLinks::kRefused ? O_NOFOLLOW : 0));
}

/// Calls `visit(name, folder)` for what is in an open folder, which is closed then. False: it cannot be read.
template <class Visit>
bool visit_entries(int folder, Visit visit) {
  DIR *all = folder < 0 ? nullptr : fdopendir(folder);
  if (!all) return false;
  while (const dirent *entry = readdir(all)) visit(entry->d_name, dirfd(all));
  closedir(all);
  return true;
}

/// Whether a folder belongs to this user, and no other user may write into it.
inline bool own_folder(const char *path) {
  const Descriptor fd(open_folder(path, FileLinks::kRefused));
  struct stat facts;
  return fd >= 0 && facts_of(fd, &facts) && facts.st_uid == geteuid() && !(facts.st_mode & 022);
}

/// The folder of a path, and the name in it: what is done there is done in the folder that was opened, whatever its path becomes.
struct PathParts {
  Descriptor folder;  ///< -1: errno has the reason
  const char *name;   ///< a part of the path
};
inline PathParts split_path(const char *path) {
  const char *slash = strrchr(path, '/');
  char above[4096] = ".";
  const size_t bytes = slash == path ? 1 : slash ? static_cast<size_t>(slash - path) : 0;
  if (bytes >= sizeof above) return errno = ENAMETOOLONG, PathParts{Descriptor(), path};
  if (bytes) memcpy(above, path, bytes), above[bytes] = 0;
  return {Descriptor(open_folder(above, FileLinks::kFollowed)), slash ? slash + 1 : path};
}

/// A new file in a folder, by a name that cannot be guessed, which `name` gets. -1: errno has the reason.
inline int create_file(int folder, const char *prefix, char (&name)[256], unsigned mode) {
  for (int tries = 0; tries < 16; tries++) {
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random) return -1;
    snprintf(name, sizeof name, ".%.200s.%016llx", prefix, static_cast<unsigned long long>(random));
    const int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

/// A new file by its own name. -1: errno has the reason, EEXIST where one is there.
inline int create_named(const char *path, int folder = AT_FDCWD) {
  return openat(folder, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

inline bool rename_in(int folder, const char *from, const char *to) { return renameat(folder, from, folder, to) == 0; }
inline void remove_file(const char *path, int folder = AT_FDCWD) { unlinkat(folder, path, 0); }

/// Removes a folder with the files in it.
inline void remove_folder(const char *path) {
  if (visit_entries(open_folder(path, FileLinks::kRefused), remove_file)) unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

}  // namespace gmt
