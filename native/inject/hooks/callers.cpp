#include "inject/hooks/callers.h"

#include <link.h>
#include <string.h>
#include <unistd.h>

#include "inject/hooks/unwind.h"
#include "python/symbols.h"
#include "wire/processor.h"

namespace gmt::inject {
namespace {

constexpr uint32_t kThrough = 0xfff;  ///< a library that the walk goes through
constexpr uint32_t kLibraries = 255;
constexpr uint32_t kPathBytes = 512;

/// What is known of the code that returns to one address.
struct Place {
  uint32_t library;  ///< number, 0 = unknown, kThrough
  UnwindRule rule;
};

/// The libraries that called, in the order of their first call; never taken out. They outlive a fork.
struct Library {
  uint64_t hash;   ///< of the path; set by the thread that fills this place
  uint32_t ready;  ///< the path is there
  char path[kPathBytes];
};
Library g_libraries[kLibraries];
uint64_t g_described[(kLibraries + 63) / 64];  ///< bit per library: its record is in the log

/// Libraries whose frames lie between the driver's function and the code that needed memory, by the begin of their file names.
constexpr const char *kBetween[] = {"libcuda.so", "libcudart", "libcupti", "libffi", "_ctypes.", "libgpumemtrace"};

bool lies_between(const char *path) {
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  for (const char *begin : kBetween)
    if (strncmp(name, begin, strlen(begin)) == 0) return true;
  return false;
}

uint64_t hash_of(const char *path) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (; *path; path++) hash = (hash ^ static_cast<unsigned char>(*path)) * 0x100000001b3ull;
  return hash ? hash : 1;
}

/// The number of a path; 0: there is no room for another one.
uint32_t number_of(const char *path) {
  const uint64_t hash = hash_of(path);
  for (uint32_t i = 0; i < kLibraries; i++) {
    Library &library = g_libraries[i];
    uint64_t known = 0;
    if (__atomic_compare_exchange_n(&library.hash, &known, hash, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      memcpy(library.path, path, strnlen(path, kPathBytes - 1));
      __atomic_store_n(&library.ready, 1, __ATOMIC_RELEASE);
      return i + 1;
    }
    if (known == hash) return i + 1;
  }
  return 0;
}

// The places of the addresses that were met, one word of key and one of value. The key is stored mixed with the value, so that a
// pair which two threads wrote at once is no pair (and is found again). With each library that comes or goes all keys change.
struct CachedPlace {
  uint64_t sign;  ///< key ^ value
  uint64_t value;
};
constexpr uint32_t kCached = 1024;
CachedPlace g_cached[kCached];

/// | library 12 | base 2 | saved 2 | CFA 24 | frame 24 |
uint64_t pack(const Place &place) {
  const auto low = [](int32_t value) { return static_cast<uint64_t>(static_cast<uint32_t>(value) & 0xffffff); };
  return static_cast<uint64_t>(place.library) << 52 | static_cast<uint64_t>(place.rule.base) << 50 |
         static_cast<uint64_t>(place.rule.saved) << 48 | low(place.rule.cfa) << 24 | low(place.rule.frame);
}
int32_t signed_24(uint64_t value) { return static_cast<int32_t>(static_cast<uint32_t>(value) << 8) >> 8; }
Place unpack(uint64_t value) {
  return {static_cast<uint32_t>(value >> 52),
          {static_cast<uint8_t>(value >> 50 & 3), static_cast<uint8_t>(value >> 48 & 3), signed_24(value >> 24),
           signed_24(value)}};
}

/// The main program has no name in the list.
void copy_path(const char *name, char *path) {
  if (name && *name) {
    strncpy(path, name, kPathBytes - 1);
  } else {
    const ssize_t bytes = readlink("/proc/self/exe", path, kPathBytes - 1);
    path[bytes > 0 ? bytes : 0] = 0;
  }
}

GMT_COLD Place look_up(uintptr_t ip) {
  uintptr_t tables = 0;  // PT_GNU_EH_FRAME of the library that holds it
  char path[kPathBytes] = {};
  const bool known = python::visit_modules([&](const dl_phdr_info &info) {
    const uintptr_t offset = ip - 1 - info.dlpi_addr;
    bool found = false;
    tables = 0;
    for (int i = 0; i < info.dlpi_phnum; i++) {
      const ElfW(Phdr) &part = info.dlpi_phdr[i];
      if (part.p_type == PT_LOAD && offset - part.p_vaddr < part.p_memsz) found = true;
      if (part.p_type == PT_GNU_EH_FRAME) tables = info.dlpi_addr + part.p_vaddr;
    }
    if (found) copy_path(info.dlpi_name, path);
    return found;
  });
  if (!known) return {};
  const bool through = lies_between(path);
  return {through ? kThrough : number_of(path), through ? unwind_rule(tables, ip) : UnwindRule{}};
}

Place place_of(uintptr_t ip, uint64_t epoch) {
  const uint64_t key = ip ^ epoch << 48;
  CachedPlace &cached = g_cached[(key ^ key >> 12) % kCached];
  const uint64_t value = __atomic_load_n(&cached.value, __ATOMIC_RELAXED);
  if ((__atomic_load_n(&cached.sign, __ATOMIC_RELAXED) ^ value) == key) return unpack(value);
  const Place place = look_up(ip);
  const uint64_t packed = pack(place);
  __atomic_store_n(&cached.value, packed, __ATOMIC_RELAXED);
  __atomic_store_n(&cached.sign, key ^ packed, __ATOMIC_RELAXED);
  return place;
}

}  // namespace

uint32_t calling_library(const void *frame) {
  const KeptErrno kept;
  const python::LoadCount loads = python::load_count();
  const uint64_t epoch = loads.added + loads.removed;
  // A function with a frame pointer: | its caller's frame pointer | return address | on x86-64: the stack's end before the call
  const auto *words = static_cast<const uintptr_t *>(frame);
  Registers at{return_address(words[1]), reinterpret_cast<uintptr_t>(words + 2), words[0]};
  uint32_t library = 0;
  for (uint32_t depth = 0; depth < kMostFrames; depth++) {
    const Place place = place_of(at.ip, epoch);
    if (place.library != kThrough) {
      library = place.library;
      break;
    }
    if (!unwind(place.rule, &at)) break;
  }
  return library;
}

void forget_libraries() { memset(g_described, 0, sizeof g_described); }

void describe_library(Thread &thread, uint32_t library) {
  if (library == 0 || library > kLibraries) return;
  const Library &known = g_libraries[library - 1];
  uint64_t &bits = g_described[(library - 1) / 64];
  const uint64_t bit = 1ull << ((library - 1) % 64);
  if (__atomic_load_n(&bits, __ATOMIC_RELAXED) & bit || !__atomic_load_n(&known.ready, __ATOMIC_ACQUIRE)) return;
  if (__atomic_fetch_or(&bits, bit, __ATOMIC_RELAXED) & bit) return;
  const gmt_library record{library, static_cast<uint32_t>(strnlen(known.path, kPathBytes))};
  if (!write_side_record(thread, GMT_LIBRARY, record, {known.path, record.path_bytes}))
    __atomic_fetch_and(&bits, ~bit, __ATOMIC_RELAXED);
}

}  // namespace gmt::inject
