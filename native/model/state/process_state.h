#pragma once
// What the model has of one process besides the live memory.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <experimental/propagate_const>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/state/answer_book.h"
#include "model/state/device_memory.h"
#include "model/state/line_finder.h"
#include "model/state/live_table.h"
#include "model/state/name_book.h"
#include "model/state/passes.h"
#include "model/state/pool_book.h"
#include "model/state/ranges.h"
#include "model/state/record_queue.h"
#include "model/state/tensor_table.h"
#include "model/state/types.h"
#include "model/state/undo_ring.h"
#include "model/state/virtual_memory.h"
#include "model/steps/process_steps.h"
#include "model/steps/step_frame.h"

namespace gmt::model {

// Between the moment when recording is switched on and the one when the framework's allocator has listed its blocks.
/// Events from meanwhile are more exact than the allocator's list, which may have been made before them or after.
class Waking {
 public:
  /// With more of them the list is no longer used: there may be nothing that makes one.
  static constexpr size_t kMost = 1u << 18;

  void checkpoint(Archive &a);
  bool active() const { return active_; }
  void begin() { *this = {}, active_ = true; }
  void end() { *this = {}; }
  /// An event reported an allocation or a free there.
  void touch(uint64_t address, bool tensor) {
    if (touched_[tensor].size() < kMost || !listed_[tensor].empty())
      touched_[tensor].insert(address);
    else
      end();
  }
  bool touched(uint64_t address, bool tensor) const { return touched_[tensor].contains(address); }
  /// An address of the list.
  void list(uint64_t address, bool tensor) { listed_[tensor].insert(address); }
  /// Known from before, and no longer there.
  bool is_gone(uint64_t address, bool tensor) const {
    return !listed_[tensor].contains(address) && !touched(address, tensor);
  }

 private:
  bool active_ = false;
  std::unordered_set<uint64_t> touched_[2], listed_[2];  ///< of segments, of tensors
};

/// From (address, device) to the index of a live block of the driver.
struct AddressEntry {
  uint64_t address;
  uint32_t block;
  uint8_t device;
  bool taken = false;
  void checkpoint(Archive &a) {
    a(address, device);
    row(a, kBlockRows, block);
  }
};
static_assert(sizeof(AddressEntry) == 16);

class AddressTable : public LiveTable<AddressEntry> {
 public:
  /// As find(): the block there; kNone without one.
  uint32_t block_of(uint64_t address, uint8_t device) const {
    const AddressEntry *entry = find(address, device);
    return entry ? entry->block : kNone;
  }
};

/// What a framework's allocator reported of single live blocks: the requested bytes, the stream and the pool.
class DetailBook {
 public:
  void checkpoint(Archive &a) { a(blocks_); }
  /// The block that is alive at its address is this until it is freed.
  void set(const gmt_block &block) { blocks_[block_key(block.address, static_cast<uint8_t>(block.device))] = block; }
  void forget(uint64_t address, uint8_t device) { blocks_.erase(block_key(address, device)); }
  /// nullptr: nothing was reported of it.
  const gmt_block *find(uint64_t address, uint8_t device) const {
    const auto found = blocks_.find(block_key(address, device));
    return found == blocks_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<uint64_t, gmt_block> blocks_;
};

/// Failed allocations that come together.
struct FailureGroup {
  uint64_t number = 0;
  uint32_t failures = 0;
  void checkpoint(Archive &a) { a(number, failures); }
};

struct ProcessState {
  ProcessState(uint32_t number_, StepFrame &frame_) : number(number_), frame(&frame_) {}

  const uint32_t number;
  std::experimental::propagate_const<StepFrame *> frame;  ///< of the accounts
  TensorTable tensors;
  std::array<AddressTable, kSpaces> tables;  ///< of the driver layer
  VirtualMemory memory;
  UndoRing undo;
  LineFinder lines;
  Passes passes;
  Ranges ranges;
  std::map<uint8_t, DeviceMemory> devices;
  NameBook names;
  CategorySums activations;  ///< that have no other name
  DetailBook details;
  PoolBook pools;
  AnswerBook answers;
  RecordQueue records;
  Waking waking;
  ProcessSteps steps;
  uint64_t next_sequence = 1;                            ///< of the event that is to come
  uint64_t next_due_ns = 0;                              ///< when something is due by time alone
  std::unordered_map<uint64_t, uint8_t> context_device;  ///< from allocations that named both
  bool recording = true;
  bool ending = false;               ///< clean-up has begun: what lived then is what lived to the end
  uint64_t events_after_ending = 0;  ///< not taken
  /// By thread: the block that it got from the driver last, or those that it will map.
  std::unordered_map<uint32_t, std::vector<uint32_t>> newest_driver_blocks;
  std::vector<Interval> pauses;  ///< recording was off
  std::vector<Interval> gaps;    ///< the driver layer was blind
  FailureGroup failures;
  uint64_t uncounted_intervals = 0;  ///< pauses and gaps beyond the ones that are kept

  void checkpoint(Archive &a);
  void set_next_due() { next_due_ns = std::min(steps.next_slice_ns, records.next_memory_ns()); }
  AddressTable &table(Space space) { return tables[static_cast<size_t>(space)]; }
  const AddressTable &table(Space space) const { return tables[static_cast<size_t>(space)]; }
  /// nullptr: it has no name.
  const NameBook::Entry *name_of(const TensorBlock &block) const {
    return block.named ? names.find(block.address, static_cast<uint8_t>(block.device)) : nullptr;
  }
  /// What a live block of the framework is for.
  uint8_t category_of(const TensorBlock &block) const {
    if (const NameBook::Entry *entry = name_of(block)) return entry->category;
    return block.activation ? uint8_t{GMT_CATEGORY_ACTIVATION} : kUnnamed;
  }
};

}  // namespace gmt::model
