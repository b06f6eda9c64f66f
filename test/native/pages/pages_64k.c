// Pages of 64 KiB on a kernel with smaller ones: what a program maps, protects or advises must be whole pages of that size, as a kernel
// with such pages demands, or the call fails as it would there. Preloaded into tests that read and write traces.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

enum { kPage = 65536 };

static size_t whole(size_t bytes) { return (bytes + kPage - 1) & ~(size_t)(kPage - 1); }
static int is_whole(uintptr_t at) { return (at & (kPage - 1)) == 0; }

long sysconf(int name) {
  static long (*own)(int);
  if (name == _SC_PAGESIZE) return kPage;
  if (!own) own = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
  return own(name);
}
int getpagesize(void) { return kPage; }

static void *map(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  static void *(*own)(void *, size_t, int, int, int, off_t);
  if (!own) own = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
  return own(at, bytes, protection, flags, fd, offset);
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  if (!is_whole((uintptr_t)offset) || ((flags & MAP_FIXED) && !is_whole((uintptr_t)at))) {
    errno = EINVAL;
    return MAP_FAILED;
  }
  if (flags & MAP_FIXED) return map(at, bytes, protection, flags, fd, offset);
  // A place of whole pages first, then the mapping over it.
  char *room = map(NULL, whole(bytes) + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return MAP_FAILED;
  char *begin = (char *)whole((uintptr_t)room);
  void *made = map(begin, bytes, protection, flags | MAP_FIXED, fd, offset);
  if (made == MAP_FAILED) return MAP_FAILED;
  return made;
}
void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  return mmap(at, bytes, protection, flags, fd, offset);
}

#define OF_WHOLE_PAGES(name)                                            \
  static int (*own)(void *, size_t, int);                               \
  if (!own) own = (int (*)(void *, size_t, int))dlsym(RTLD_NEXT, name); \
  if (!is_whole((uintptr_t)at)) {                                       \
    errno = EINVAL;                                                     \
    return -1;                                                          \
  }                                                                     \
  return own(at, bytes, how)

int mprotect(void *at, size_t bytes, int how) { OF_WHOLE_PAGES("mprotect"); }
int madvise(void *at, size_t bytes, int how) { OF_WHOLE_PAGES("madvise"); }
int msync(void *at, size_t bytes, int how) { OF_WHOLE_PAGES("msync"); }
int munmap(void *at, size_t bytes) {
  static int (*own)(void *, size_t);
  if (!own) own = (int (*)(void *, size_t))dlsym(RTLD_NEXT, "munmap");
  if (!is_whole((uintptr_t)at)) {
    errno = EINVAL;
    return -1;
  }
  return own(at, bytes);
}
