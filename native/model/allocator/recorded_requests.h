#pragma once
// What one process had from PyTorch's allocator of one GPU, in the order of the calls: what a replay gives to the model of it.
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "model/allocator/caching_allocator.h"
#include "trace/batch.h"

namespace gmt::model {

struct RecordedAllocation {
  uint64_t address;
  uint64_t bytes;  ///< of the block that it got
  uint64_t begin_ns;
  CachingAllocator::Pool pool;
};

struct RecordedCall {
  enum Kind : uint8_t {
    kAllocate,
    kFree,
    kEmptyCache,  ///< the driver got segments back, between two calls
    kRetry,       ///< the same within the next allocation, for which there was no room
  };
  Kind kind;
  bool takes_segment = false;       ///< kAllocate: the driver gave more memory for it
  uint32_t allocation = 0;          ///< kAllocate, kFree: which one
  uint64_t reserved_bytes = 0;      ///< by PyTorch's account, once it is done
  uint64_t time_ns = 0;
};

struct RecordedRequests {
  std::vector<RecordedAllocation> allocations;
  std::vector<RecordedCall> calls;
  uint64_t unmatched_frees = 0;  ///< of what was allocated before the recording began
};

/// Collects the calls of one process and GPU from its events.
class RequestCollector {
 public:
  RequestCollector(uint32_t process, uint8_t device) : process_(process), device_(device) {}
  void add(const trace::Batch &batch);
  RecordedRequests &requests() { return requests_; }

 private:
  void allocate(const trace::Event &event);
  void free(const trace::Event &event);

  uint32_t process_;
  uint8_t device_;
  RecordedRequests requests_;
  std::unordered_map<uint64_t, uint32_t> live_;  ///< by address
  uint64_t reserved_bytes_ = 0;
  uint64_t known_reserved_bytes_ = 0;
};

/// Streams and pools of graphs take no part in a call. Which of them served it shows in where its block lies: a free block of the same pool
/// that fits better would have been taken. Gives each allocation its pool; the number of those whose place no pool explains.
uint64_t find_pools(RecordedRequests &requests, const AllocatorSettings &settings);

}  // namespace gmt::model
