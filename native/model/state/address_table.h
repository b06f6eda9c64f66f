#pragma once
// From (address, device) to the index of a live block of the driver.
#include <cstdint>

#include "model/state/live_table.h"

namespace gmt::model {

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

}  // namespace gmt::model
