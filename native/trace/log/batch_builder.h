#pragma once
// Collects the events of one batch.
#include <tuple>
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
    std::apply([](auto &...list) { (list.clear(), ...); }, records_);
  }
  size_t size() const { return count_; }
  bool empty() const {
    const auto none = [](const auto &...list) { return (list.empty() && ...); };
    return count_ == 0 && nodes_.empty() && std::apply(none, records_);
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
  template <class Record>
  void add(Record record) {
    std::get<std::vector<Record>>(records_).push_back(std::move(record));
  }
  Batch batch(uint32_t process) const {
    const std::span events(events_.data(), count_);
    return {process, events, details_, autograds_, nodes_, std::make_from_tuple<Records>(records_)};
  }

 private:
  std::vector<Event> events_;
  size_t count_ = 0;
  uint64_t generation_ = 1;
  std::vector<gmt_driver_detail> details_;
  std::vector<gmt_autograd> autograds_;
  std::vector<Node> nodes_;
  /// As in `Records`.
  std::tuple<std::vector<Name>, std::vector<Memory>, std::vector<AnswerPart>, std::vector<Allocator>,
             std::vector<ModelRecord>, std::vector<Range>>
      records_;
};

}  // namespace gmt::trace
