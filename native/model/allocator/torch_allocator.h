#pragma once
// PyTorch's caching allocator of one GPU, as rules without a GPU: which block a request gets, when a segment is taken from the
// driver and when it goes back (c10/cuda/CUDACachingAllocator.cpp).
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

namespace gmt::model {

constexpr uint64_t kNoLimit = ~0ull;

/// What PYTORCH_CUDA_ALLOC_CONF sets, and how much there is.
struct AllocatorSettings {
  bool expandable_segments = false;
  uint64_t max_split_bytes = kNoLimit;
  uint64_t max_unsplit_rounding_bytes = 20ull << 20;
  uint32_t roundup_power2_divisions = 0;        ///< 0: sizes are rounded to 512 bytes
  double garbage_collection_threshold = 0;      ///< of the limit; 0: off
  uint64_t limit_bytes = kNoLimit;              ///< that the allocator may hold: the card less what else is on it
  uint64_t address_space_bytes = 160ull << 30;  ///< of an expandable segment: 9/8 of the card
};

class CachingAllocator {
 public:
  /// Memory of one stream or of one captured graph's pool serves nothing else.
  using Pool = uint32_t;
  struct Range {
    uint64_t address;
    uint64_t bytes;
  };
  /// Where the driver puts a new segment of so many bytes.
  using Driver = std::function<uint64_t(uint64_t bytes)>;

  CachingAllocator(const AllocatorSettings &settings, Driver driver)
      : settings_(settings), driver_(std::move(driver)) {}

  static constexpr uint64_t kSmallBytes = 1 << 20;  ///< the biggest small request
  /// What the driver is called for, for a request that no free block fits.
  static uint64_t segment_bytes(uint64_t bytes);
  static bool is_small_segment(uint64_t bytes);
  /// Bytes that a request takes at least: PyTorch’s rounding.
  uint64_t rounded(uint64_t bytes) const;
  /// The free block that a rounded request gets; none: a new segment is needed.
  std::optional<Range> best_fit(Pool pool, uint64_t bytes) const;
  /// None: memory ran out, after the cache was given back.
  std::optional<Range> allocate(Pool pool, uint64_t bytes);
  enum class Placed : uint8_t { kNowhere, kWhole, kCut };
  /// Takes a given place inside a free block, whatever fits best. kCut: a part of it is left behind the place, so that as much was
  /// requested; kNowhere: nothing is free there.
  Placed allocate_at(uint64_t address, uint64_t bytes);
  /// False: no such block.
  bool free(uint64_t address);
  /// `torch.cuda.empty_cache()`
  void empty_cache();
  /// A segment that was there before: free as a whole.
  void add_segment(Pool pool, Range range, bool small);

  /// Whether the place is in one of its segments, mapped or not.
  bool holds(uint64_t address) const;
  uint64_t reserved_bytes() const { return reserved_bytes_; }
  uint64_t allocated_bytes() const { return allocated_bytes_; }
  uint64_t retries() const { return retries_; }  ///< the cache was given back for want of memory
  /// Each segment in the order of addresses; of expandable ones, what is mapped.
  std::vector<Range> segments() const;

 private:
  struct Area;
  struct Block {
    uint64_t address;
    uint64_t bytes;
    Area *area;
    Block *before = nullptr, *after = nullptr;  ///< beside it in its segment
    uint64_t segment = 0;                       ///< where that begins
    bool allocated = false;
    bool mapped = true;
    bool expandable = false;
    uint64_t freed_at = 0;  ///< requests of the area so far
  };
  struct BySize {
    using is_transparent = void;
    bool operator()(const Block *a, const Block *b) const {
      return a->bytes != b->bytes ? a->bytes < b->bytes : a->address < b->address;
    }
    bool operator()(const Block *a, uint64_t bytes) const { return a->bytes < bytes; }
    bool operator()(uint64_t bytes, const Block *a) const { return bytes < a->bytes; }
  };
  struct ByAddress {
    bool operator()(const Block *a, const Block *b) const { return a->address < b->address; }
  };
  /// The free blocks of one pool that serve small requests, or big ones.
  struct Area {
    bool small;
    uint64_t requests;  ///< so far
    std::set<Block *, BySize> free;
    std::set<Block *, ByAddress> unmapped;
  };

  uint64_t piece_bytes(const Area &area) const;
  Area &area_of(Pool pool, bool small);
  const Area *find_area(Pool pool, bool small) const;
  Block *find_free(const Area &area, uint64_t bytes) const;
  bool splits(const Block &block, uint64_t bytes) const;
  Block *new_block(const Block &block);
  void drop(Block *block);
  Block *take_segment(Area &area, uint64_t bytes);
  Block *grow(Area &area, uint64_t bytes);
  Block *place_to_grow(Area &area, uint64_t bytes);
  bool map(Block *block, uint64_t bytes);
  void unmap(Block *block);
  bool release_oversized(Area &area, uint64_t bytes);
  void collect_garbage();
  void release(Block *block);
  Block *cut(Block *block, uint64_t offset);
  void use(Block *block, uint64_t bytes);
  void merge(Block *into, Block *other);
  void put_back(Block *block);
  bool fits_limit(uint64_t bytes) const {
    return bytes <= settings_.limit_bytes - std::min(settings_.limit_bytes, reserved_bytes_);
  }

  AllocatorSettings settings_;
  Driver driver_;
  std::unordered_map<uint64_t, Area> areas_;  ///< by 2 × pool + small
  std::deque<Block> blocks_;
  std::vector<Block *> spare_;
  std::set<Block *, ByAddress> all_;
  std::unordered_map<uint64_t, Block *> allocated_;
  uint64_t reserved_bytes_ = 0;
  uint64_t allocated_bytes_ = 0;
  uint64_t retries_ = 0;
};

}  // namespace gmt::model
