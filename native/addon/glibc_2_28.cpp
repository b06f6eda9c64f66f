// Lets a library whose libstdc++ was linked in statically load on glibc 2.28: what that archive takes from a newer glibc is
// either bound to the version of the symbol that has always been there (through the linker's --wrap, see CMakeLists.txt, since
// it is compiled already), or made here from older calls.
#include <pthread.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

#include "wire/glibc_first.h"

#define GMT_HIDDEN __attribute__((visibility("hidden")))

/// `__wrap_NAME` calls NAME as it was in the first glibc of this processor.
#define GMT_FIRST_VERSION(result, name, parameters, arguments)   \
  extern "C" result first_##name parameters;                     \
  __asm__(".symver first_" #name "," #name "@" GMT_FIRST_GLIBC); \
  extern "C" GMT_HIDDEN result __wrap_##name parameters { return first_##name arguments; }

using Start = void *(*)(void *);
using Once = void (*)();

GMT_FIRST_VERSION(int, pthread_create, (pthread_t * thread, const pthread_attr_t *how, Start start, void *with),
                  (thread, how, start, with))
GMT_FIRST_VERSION(int, pthread_join, (pthread_t thread, void **result), (thread, result))
GMT_FIRST_VERSION(int, pthread_once, (pthread_once_t * once, Once run), (once, run))

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

int64_t ns_of(const timespec &time) { return time.tv_sec * kSecondNs + time.tv_nsec; }

int64_t now_ns(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return ns_of(now);
}

}  // namespace

/// glibc 2.30: waits until a time of any clock; here until the moment of the real-time clock that is as far away.
extern "C" GMT_HIDDEN int __wrap_pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                                        clockid_t clock, const timespec *until) {
  const int64_t left_ns = ns_of(*until) - now_ns(clock);
  const int64_t real_ns = now_ns(CLOCK_REALTIME) + left_ns;
  const timespec real = {.tv_sec = real_ns / kSecondNs, .tv_nsec = real_ns % kSecondNs};
  return pthread_cond_timedwait(condition, mutex, &real);
}

/// glibc 2.33: before, programs called these with the version of the structure.
extern "C" int __xstat(int version, const char *path, struct stat *out);
extern "C" int __fxstat(int version, int file, struct stat *out);
#ifdef __aarch64__
constexpr int kStatVersion = 0;
#else
constexpr int kStatVersion = 1;
#endif
extern "C" GMT_HIDDEN int __wrap_stat(const char *path, struct stat *out) { return __xstat(kStatVersion, path, out); }
extern "C" GMT_HIDDEN int __wrap_fstat(int file, struct stat *out) { return __fxstat(kStatVersion, file, out); }

/// glibc 2.36.
extern "C" GMT_HIDDEN uint32_t __wrap_arc4random() {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) < 0 && errno == EINTR) {
  }
  return number;
}

/// glibc 2.32: "this process has one thread"; false is always right.
extern "C" {
GMT_HIDDEN char __libc_single_threaded = 0;
}
