#include "model/state/virtual_memory.h"

#include <iterator>

namespace gmt::model {

uint64_t VirtualMemory::release(uint64_t address) {
  const auto found = reservations_.find(address);
  if (found == reservations_.end()) return 0;
  const uint64_t bytes = found->second;
  reservations_.erase(found);
  return bytes;
}

std::vector<Mapping> VirtualMemory::map(const Mapping &mapping) {
  std::vector<Mapping> ended;
  auto before = maps_.upper_bound(mapping.address);
  if (before != maps_.begin()) {
    --before;
    const Mapping &old = before->second;
    if (old.address != mapping.address && old.address + old.bytes > mapping.address) {
      ended.push_back(old);
      maps_.erase(before);
    }
  }
  for (const Mapping &old : unmap(mapping.address, mapping.bytes)) ended.push_back(old);
  maps_[mapping.address] = mapping;
  return ended;
}

std::vector<Mapping> VirtualMemory::unmap(uint64_t address, uint64_t bytes) {
  std::vector<Mapping> ended;
  auto at = maps_.lower_bound(address);
  const uint64_t last = bytes ? address + bytes - 1 : address;
  while (at != maps_.end() && at->first <= last) {
    ended.push_back(at->second);
    at = maps_.erase(at);
  }
  return ended;
}

void VirtualMemory::forget(uint32_t block, std::vector<Mapping> &ended) {
  std::erase_if(maps_, [&](const auto &entry) {
    if (entry.second.block != block) return false;
    ended.push_back(entry.second);
    return true;
  });
}

bool VirtualMemory::paused(uint64_t address) const {
  const auto covers = [address](const auto &all, auto bytes_of) {
    const auto after = all.upper_bound(address);
    return after != all.begin() && address - std::prev(after)->first < bytes_of(std::prev(after)->second);
  };
  return covers(reservations_, [](uint64_t bytes) { return bytes; }) &&
         !covers(maps_, [](const Mapping &mapping) { return mapping.bytes; });
}

uint64_t VirtualMemory::reserved_bytes() const {
  uint64_t sum = 0;
  for (const auto &[address, bytes] : reservations_) sum += bytes;
  return sum;
}

}  // namespace gmt::model
