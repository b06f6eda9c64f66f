#pragma once
// Terms that all parts of the model share.
#include <cstdint>
#include <string>

#include "model/state/enums.gen.h"
#include "trace/archive.h"
#include "wire/layout.h"

namespace gmt::model {

constexpr int kLayers = static_cast<int>(Words<Layer>::kAll.size());

/// Addresses and handles that can be equal without being the same thing live in spaces of their own.
enum class Space : uint8_t { Device, Array, Host, Physical, Import };
constexpr int kSpaces = 5;

constexpr uint32_t kNone = 0xffffffffu;

using trace::Archive;
/// What others name by number; places in Archive::rows.
enum Rows : size_t { kCellRows, kSiteRows, kLedgerRows, kBlockRows };
/// The number of such a thing.
inline void row(Archive &a, Rows of, uint32_t &number) { a.below(number, a.rows[of]); }
inline void row_or_none(Archive &a, Rows of, uint32_t &number) { a.below_or(number, a.rows[of], kNone); }

template <typename Enum>
  requires requires { Words<Enum>::kAll; }
constexpr size_t archive_limit(Enum) {
  return Words<Enum>::kAll.size();
}
constexpr size_t archive_limit(Space) { return kSpaces; }

/// In a question: no restriction.
constexpr int32_t kAll = -1;
/// When blocks were allocated: [from_ns, to_ns).
struct Births {
  uint64_t from_ns = 0;
  uint64_t to_ns = ~0ull;
  bool all() const { return from_ns == 0 && to_ns == ~0ull; }
  bool hold(uint64_t time_ns) const { return static_cast<bool>((time_ns >= from_ns) & (time_ns < to_ns)); }
};

/// One live allocation of the driver.
struct alignas(64) Block {
  uint64_t address;
  uint64_t bytes;
  uint64_t time_ns;
  uint64_t stream;
  uint64_t context;
  uint32_t cell;        ///< what made it, see Accounts
  uint32_t references;  ///< of a physical handle or an import
  uint32_t mapped;      ///< maps of a physical handle
  uint32_t step;        ///< in which it was allocated
  uint8_t device;
  uint8_t kind;  ///< enum gmt_kind; 0 = this place is empty
  Space space;
  bool counted;  ///< false: another process owns the memory
  bool segment;  ///< the framework's caching allocator keeps tensors in it
  void checkpoint(Archive &a) {
    a(address, bytes, time_ns, stream, context, references, mapped, step, device, kind, space, counted, segment);
    if (kind) row(a, kCellRows, cell);
  }
};
static_assert(sizeof(Block) == 64);

/// Who made an allocation as far as events name it: the Python line, and the library that called the driver.
struct LineRef {
  uint32_t stack = 0;
  LineSource source = LineSource::None;
  uint16_t library = 0;  ///< number in the process, 0 = not known, or of the tensor layer
  void checkpoint(Archive &a) { a(stack, source, library); }
};

struct Interval {
  uint64_t begin_ns;
  uint64_t end_ns;  ///< ~0 = still open
};

/// Spreads keys over the high bits (Fibonacci hashing). It runs several times an event: a stronger mix of two rounds
/// cost more time than its shorter searches saved.
inline uint64_t spread(uint64_t key) { return key * 0x9e3779b97f4a7c15ull; }

/// One number for a live block: addresses use no more than 56 bits.
inline uint64_t block_key(uint64_t address, uint8_t device) { return address ^ static_cast<uint64_t>(device) << 56; }

/// Device as answers carry it: -1 for host or none.
inline int32_t device_number(uint8_t device) { return device == GMT_DEVICE_NONE ? -1 : device; }
/// As users see it; memory of a device that is not known is no host memory.
inline std::string device_text(int32_t device, Layer layer) {
  if (device >= 0) return "gpu_" + std::to_string(device);
  return layer == Layer::Host ? "host" : "unknown GPU";
}

}  // namespace gmt::model
