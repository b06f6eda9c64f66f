#pragma once
// What each kind of event or record does to the state; each group is in a file of its own.
#include "model/ingest/context.h"

namespace gmt::model {

// tensor_events.cpp: the framework's layer, its allocator's blocks and what it keeps reserved.
void allocate_tensor(const Context &context);
void free_tensor(const Context &context);
/// The framework's allocator holds more or less than before.
void set_reserved(const Context &context);
/// The framework's reserve on the device is `bytes` from now on.
void reserve(ProcessState &process, uint8_t device, int64_t bytes, uint64_t time_ns);

// driver_events.cpp: the driver's layer, each call that gives memory, takes it or moves addresses.
void handle_driver_event(const Context &context);

// handle_events.cpp: memory behind handles: physical memory and its maps, memory of other processes, address reservations.
void release_handle(const Context &context);
void retain_handle(const Context &context);
void import(const Context &context);
void close_import(const Context &context);
void map(const Context &context);
void unmap(const Context &context);
void free_reservation(const Context &context);

// free_undo.cpp: a free that turned out to have failed is taken back.
void undo_free(const Context &context);

// failures.cpp: allocations that failed: each is counted, those for want of memory are listed with what memory looked like.
constexpr size_t kOutOfMemory = 1000;  ///< that are listed: the first kFirstSnapshots and the newest
constexpr size_t kSnapshots = 16;      ///< that keep what memory looked like: the first, and the newest that came apart
constexpr size_t kFirstSnapshots = 8;
void handle_failure(const Context &context);

// model_records.cpp: records that are no events: what blocks are for, the framework allocator's counters, answers of the agent.
/// What a live block is for.
void name_block(ProcessState &process, TensorBlock &block, uint8_t category, const std::string &text);
/// Applies all that holds from behind an event before the sequence `before`.
void apply_records(State &all, ProcessState &process, uint64_t before, LifetimeLog *lifetimes);

// pre_existing_blocks.cpp: memory that was there when recording was switched on, as the framework's allocator listed it then.
/// Applies a GMT_BEFORE: what is not known yet begins, and behind the last part of a list what is not in it has ended.
void apply_pre_existing(State &all, ProcessState &process, const trace::ModelRecord &record, LifetimeLog *lifetimes);

}  // namespace gmt::model
