#pragma once
// What the model knows of one process besides who holds how much.
#include <algorithm>
#include <array>
#include <experimental/propagate_const>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "model/state/address_table.h"
#include "model/state/answer_book.h"
#include "model/state/detail_book.h"
#include "model/state/device_memory.h"
#include "model/state/line_finder.h"
#include "model/state/name_book.h"
#include "model/state/passes.h"
#include "model/state/pool_book.h"
#include "model/state/ranges.h"
#include "model/state/record_queue.h"
#include "model/state/size_habit.h"
#include "model/state/tensor_table.h"
#include "model/state/undo_ring.h"
#include "model/state/virtual_memory.h"
#include "model/state/waking.h"
#include "model/steps/process_steps.h"
#include "model/steps/step_frame.h"

namespace gmt::model {

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
  CategorySums activations;  ///< that nobody named otherwise
  DetailBook details;
  PoolBook pools;
  AnswerBook answers;
  RecordQueue records;
  Waking waking;
  ProcessSteps steps;
  uint64_t next_sequence = 1;                            ///< of the event that is to come
  uint64_t next_due_ns = 0;                              ///< when time itself asks for attention
  std::unordered_map<uint64_t, uint8_t> context_device;  ///< from allocations that named both
  bool recording = true;
  bool ending = false;               ///< clean-up has begun: what lived then is what lived to the end
  uint64_t events_after_ending = 0;  ///< not taken
  std::unordered_map<uint32_t, uint32_t> newest_driver_block;  ///< by thread: block it got from the driver last
  std::vector<Interval> pauses;                                ///< recording was off
  std::vector<Interval> gaps;                                  ///< the driver layer was blind
  SizeHabits habits;
  FailureGroup failures;
  uint64_t uncounted_intervals = 0;  ///< pauses and gaps beyond the ones that are kept

  void checkpoint(Archive &a);
  void set_next_due() { next_due_ns = std::min(steps.next_slice_ns, records.next_memory_ns()); }
  AddressTable &table(Space space) { return tables[static_cast<size_t>(space)]; }
  const AddressTable &table(Space space) const { return tables[static_cast<size_t>(space)]; }
  /// What a live block of the framework is for.
  /// nullptr: nobody named it.
  const NameBook::Entry *name_of(const TensorBlock &block) const {
    return block.named ? names.find(block.address, static_cast<uint8_t>(block.device)) : nullptr;
  }
  uint8_t category_of(const TensorBlock &block) const {
    if (const NameBook::Entry *entry = name_of(block)) return entry->category;
    return block.activation ? uint8_t{GMT_CATEGORY_ACTIVATION} : kUnnamed;
  }
};

}  // namespace gmt::model
