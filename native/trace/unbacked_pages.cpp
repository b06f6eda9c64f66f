#include "trace/unbacked_pages.h"

#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

namespace gmt::trace {
namespace {

constexpr uintptr_t kPage = 4096;

struct Range {
  std::atomic<uintptr_t> begin{0}, end{0};
};
/// A handler of a signal may take no lock. Of more mappings the rest is as if there was no handler.
std::array<Range, 1024> g_ranges;
struct sigaction g_before;

void on_unbacked(int signal, siginfo_t *about, void *) {
  const int saved = errno;
  const auto at = reinterpret_cast<uintptr_t>(about->si_addr) & ~(kPage - 1);
  for (const Range &range : g_ranges) {
    if (at < range.begin || at >= range.end) continue;
    constexpr int kHow = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (::mmap(reinterpret_cast<void *>(at), kPage, PROT_READ, kHow, -1, 0) != MAP_FAILED) {
      errno = saved;
      return;
    }
  }
  ::sigaction(SIGBUS, &g_before, nullptr);  // what was read is read again, and is not ours
  if (about->si_code <= 0) ::raise(signal);
  errno = saved;
}

}  // namespace

void read_unbacked_as_zeros(const void *mapped, size_t bytes) {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_sigaction = on_unbacked;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    return ::sigaction(SIGBUS, &action, &g_before) == 0;
  }();
  if (!installed) return;
  const auto begin = reinterpret_cast<uintptr_t>(mapped);
  for (Range &range : g_ranges) {
    uintptr_t none = 0;
    if (range.begin.compare_exchange_strong(none, begin)) return range.end.store(begin + bytes);
  }
}

void forget_unbacked(const void *mapped) {
  for (Range &range : g_ranges) {
    if (range.begin != reinterpret_cast<uintptr_t>(mapped)) continue;
    range.end = 0;
    range.begin = 0;
    return;
  }
}

}  // namespace gmt::trace
