#pragma once
// Collects the events of one batch.
#include <algorithm>
#include <utility>
#include <vector>

#include "trace/batch.h"

namespace gmt::trace {

class BatchBuilder {
 public:
  static constexpr size_t kEvents = 8192;  ///< each with a detail and an autograd state at most: 16 bits count them

  BatchBuilder() : events_(kEvents) {}
  void clear() {
    count_ = 0;
    ++generation_;
    details_.clear();
    autograds_.clear();
    nodes_.clear();
    names_.clear();
    memories_.clear();
    answers_.clear();
    allocators_.clear();
    others_.clear();
  }
  /// Events.
  size_t size() const { return count_; }
  /// There is nothing to deliver.
  bool empty() const {
    return count_ == 0 && nodes_.empty() && names_.empty() && memories_.empty() && answers_.empty() &&
           allocators_.empty() && others_.empty();
  }
  bool full() const { return count_ == kEvents; }
  /// Grows with each clear(): what was added before is gone.
  uint64_t generation() const { return generation_; }
  /// Only while not full().
  Event &add() { return events_[count_++]; }
  uint16_t add_detail(const gmt_driver_detail &detail) {
    details_.push_back(detail);
    return static_cast<uint16_t>(details_.size());
  }
  uint16_t add_autograd(const gmt_autograd &autograd) {
    autograds_.push_back(autograd);
    return static_cast<uint16_t>(autograds_.size());
  }
  void add_node(const gmt_node &node, uint32_t thread) {
    nodes_.push_back({node, thread, static_cast<uint32_t>(count_)});
  }
  void add(Name name) { names_.push_back(std::move(name)); }
  void add(const Memory &memory) { memories_.push_back(memory); }
  void add(AnswerPart part) { answers_.push_back(std::move(part)); }
  void add(const Allocator &allocator) { allocators_.push_back(allocator); }
  void add(Said said) { others_.push_back(std::move(said)); }
  Batch batch(uint32_t process) const {
    return {process,  {events_.data(), count_},
            details_, autograds_,
            nodes_,   {names_, memories_, answers_, allocators_, others_}};
  }

 private:
  std::vector<Event> events_;
  size_t count_ = 0;
  uint64_t generation_ = 1;
  std::vector<gmt_driver_detail> details_;
  std::vector<gmt_autograd> autograds_;
  std::vector<Node> nodes_;
  std::vector<Name> names_;
  std::vector<Memory> memories_;
  std::vector<AnswerPart> answers_;
  std::vector<Allocator> allocators_;
  std::vector<Said> others_;
};

}  // namespace gmt::trace
