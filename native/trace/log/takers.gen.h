#pragma once
// Who takes which local record. Made by test/project/schema/generate.mjs from extension/protocol/schema; change it there.
#include <cstdint>
#include <iterator>

namespace gmt::trace {

enum class Taker : uint8_t { None, Merge, Tables, Model };
struct RecordRow {
  Taker taker;
  uint16_t bytes;    ///< of its struct
  int16_t sequence;  ///< where its field of that name begins, -1 = none
  int16_t device;    ///< likewise, of 32 bits
};
/// By enum gmt_local_kind.
constexpr RecordRow kRecords[] = {
    {Taker::None, 0, -1, -1},
    {Taker::Merge, 0, -1, -1},  // END_OF_CHUNK
    {Taker::Merge, 16, -1, -1},  // TIME_BASE
    {Taker::Merge, 48, -1, -1},  // DRIVER_DETAIL
    {Taker::Merge, 16, 0, -1},  // AUTOGRAD
    {Taker::Tables, 8, -1, -1},  // THREAD
    {Taker::Tables, 24, -1, -1},  // CODE
    {Taker::Tables, 8, -1, -1},  // STACK
    {Taker::Tables, 16, -1, 0},  // DEVICE
    {Taker::Tables, 8, -1, -1},  // PROCESS
    {Taker::Tables, 8, -1, -1},  // NOTE
    {Taker::Merge, 16, 0, -1},  // NODE
    {Taker::Model, 24, 8, -1},  // NAME
    {Taker::Model, 40, -1, 32},  // MEMORY
    {Taker::Model, 24, 0, -1},  // ANSWER
    {Taker::Tables, 8, -1, -1},  // LIBRARY
    {Taker::Model, 32, 0, 24},  // ALLOCATOR
    {Taker::Model, 56, 8, 48},  // BLOCK
    {Taker::Merge, 16, -1, -1},  // WRITER
    {Taker::Model, 40, 0, 16},  // BEFORE
    {Taker::Tables, 16, -1, -1},  // MODULE_CALL
    {Taker::Tables, 16, -1, -1},  // MODULE
    {Taker::Model, 48, 0, 24},  // POOL
    {Taker::Tables, 8, -1, -1},  // GENERATED
    {Taker::Model, 16, -1, -1},  // RANGE
};
constexpr RecordRow record_row(uint8_t kind) {
  return kind < std::size(kRecords) ? kRecords[kind] : RecordRow{Taker::None, 0, -1, -1};
}

}  // namespace gmt::trace
