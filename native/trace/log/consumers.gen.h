#pragma once
// Which part consumes which side record. Made by test/project/schema/generate.mjs from extension/protocol/schema; change it there.
#include <cstdint>
#include <iterator>

namespace gmt::trace {

enum class Consumer : uint8_t { None, Merge, Tables, Model };
struct RecordRow {
  Consumer consumer;
  uint16_t bytes;    ///< of its struct
  int16_t sequence;  ///< where its field of that name begins, -1 = none
  int16_t device;    ///< likewise, of 32 bits
};
/// By enum gmt_side_record_kind.
constexpr RecordRow kRecords[] = {
    {Consumer::None, 0, -1, -1},
    {Consumer::Merge, 0, -1, -1},  // END_OF_CHUNK
    {Consumer::Merge, 16, -1, -1},  // TIME_BASE
    {Consumer::Merge, 48, -1, -1},  // DRIVER_DETAIL
    {Consumer::Merge, 16, 0, -1},  // AUTOGRAD
    {Consumer::Tables, 8, -1, -1},  // THREAD
    {Consumer::Tables, 24, -1, -1},  // CODE
    {Consumer::Tables, 8, -1, -1},  // STACK
    {Consumer::Tables, 16, -1, 0},  // DEVICE
    {Consumer::Tables, 8, -1, -1},  // PROCESS
    {Consumer::Tables, 8, -1, -1},  // NOTE
    {Consumer::Merge, 16, 0, -1},  // NODE
    {Consumer::Model, 24, 8, -1},  // NAME
    {Consumer::Model, 40, -1, 32},  // MEMORY
    {Consumer::Model, 24, 0, -1},  // ANSWER
    {Consumer::Tables, 8, -1, -1},  // LIBRARY
    {Consumer::Model, 32, 0, 24},  // ALLOCATOR
    {Consumer::Model, 56, 8, 48},  // BLOCK
    {Consumer::Merge, 16, -1, -1},  // WRITER
    {Consumer::Model, 40, 0, 16},  // BEFORE
    {Consumer::Tables, 16, -1, -1},  // MODULE_CALL
    {Consumer::Tables, 16, -1, -1},  // MODULE
    {Consumer::Model, 48, 0, 24},  // POOL
    {Consumer::Tables, 8, -1, -1},  // GENERATED
    {Consumer::Model, 16, -1, -1},  // RANGE
};
constexpr RecordRow record_row(uint8_t kind) {
  return kind < std::size(kRecords) ? kRecords[kind] : RecordRow{Consumer::None, 0, -1, -1};
}

}  // namespace gmt::trace
