#pragma once
// The kernel's pages: 4 KiB on x86-64; 4, 16 or 64 KiB on arm64.
#include <stdint.h>
#include <unistd.h>

namespace gmt {

inline uint64_t page_bytes() {
  static const auto bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// Where the page that an address or an offset lies in begins.
inline uint64_t page_begin(uint64_t at) { return at & ~(page_bytes() - 1); }

}  // namespace gmt
