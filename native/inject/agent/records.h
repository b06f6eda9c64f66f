#pragma once
// What the agent writes to the log.
#include <stdint.h>

#include <string_view>

#include "inject/log/log.h"

namespace gmt::inject {

/// A training step ended here; `number` from 1.
void write_step(uint64_t number);

/// Python's collector begins (`begins`; `value` = generation) or has ended (`value` = objects collected).
void write_collection(bool begins, uint64_t value);
/// The program's own code has ended, where this thread has recorded anything; `busy_ns` as GMT_PYTHON_ENDING has it.
void write_python_ending(uint64_t busy_ns);

/// What the block at `address` is for; `text` is UTF-8, cut at 1,000 bytes.
void write_name(uint64_t address, uint8_t device, uint8_t category, std::string_view text);

/// Where a module of the program is; `text` is UTF-8, cut at 1,000 bytes.
void write_module(uint64_t module, std::string_view text);

/// The newest event's sequence; 0 = no log.
uint64_t newest_sequence();
/// Changes with each event but those of Python's collector, which runs without GPU memory, too.
uint64_t memory_events();

/// The answer to a request, as JSON; in several records where it is long. `sequence`: the newest event's when it was looked.
void write_answer(uint32_t request, std::string_view text, uint64_t sequence);

/// What a device says that this process holds.
void write_memory(const gmt_memory &memory);

/// What the framework's allocator says of a device.
void write_allocator(const gmt_allocator &figures);

/// What it says of a live block, as in gmt_block; ~0 for what is not known.
void write_block(uint64_t address, uint32_t device, uint64_t sequence, uint64_t asked_bytes, uint64_t stream,
                 uint64_t pool_owner, uint64_t pool_number);

/// What a compiler's code stands for from a line on; `text` as gmt_generated has it.
void write_generated(uint32_t line, std::string_view text);

/// Segments of a pool; `text`: UTF-8, cut at 1,000 bytes.
void write_pool(gmt_pool pool, std::string_view text, const uint64_t *addresses, size_t count);

/// Recording has been switched on since the log began, or since `take_waking`.
bool recording_woke();
/// The same, once each time: 1, or 2 where it was on before; else 0. Its mark is in the log by then.
uint64_t take_waking();

/// All blocks (`kind` GMT_TENSOR_ALLOC) or segments (GMT_DEVICE_ALLOC) that the allocator has on a device, in several records where
/// they are many. `about`: all but stack, count and parts.
void write_before(gmt_before about, const gmt_before_block *blocks, uint64_t count);

/// A remark for the user.
void write_agent_note(gmt_note_code code, std::string_view text);

}  // namespace gmt::inject
