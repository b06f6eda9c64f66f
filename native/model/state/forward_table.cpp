#include "model/state/forward_table.h"

#include <algorithm>

namespace gmt::model {

ForwardTable::Thread &ForwardTable::thread_of(uint16_t index, uint64_t torch_thread) {
  if (index >= by_index_.size()) by_index_.resize(index + 1u, kNone);
  uint32_t &place = by_index_[index];
  if (place == kNone) {
    place = static_cast<uint32_t>(threads_.size());
    threads_.push_back({index, torch_thread, false, {}});
  }
  latest_ = place;
  if (torch_thread) threads_[place].torch_thread = torch_thread;
  return threads_[place];
}

void ForwardTable::note(uint16_t thread, uint64_t torch_thread, uint64_t sequence, uint32_t stack) {
  if (sequence == 0 || sequence == GMT_SEQUENCE_ACCUMULATE) return;
  Thread &own = thread_of(thread, torch_thread);
  const bool known = own.has_nodes || (!own.entries.empty() && own.entries.back().sequence == sequence);
  if (!known) append(own, sequence, stack);
}

void ForwardTable::note_node(uint16_t thread, uint64_t torch_thread, uint64_t sequence, uint32_t stack) {
  if (sequence >= GMT_SEQUENCE_ACCUMULATE - 1 || stack == 0) return;
  Thread &own = thread_of(thread, torch_thread);
  own.has_nodes = true;
  append(own, sequence + 1, stack);
}

void ForwardTable::append(Thread &own, uint64_t sequence, uint32_t stack) {
  // A thread's numbers only rise; a lower one means that the counter began anew.
  while (!own.entries.empty() && own.entries.back().sequence >= sequence) {
    own.entries.pop_back();
    --entries_;
  }
  own.entries.push_back({sequence, stack});
  if (++entries_ > kEntries) make_room();
}

void ForwardTable::make_room() {
  auto biggest = std::max_element(threads_.begin(), threads_.end(),
                                  [](const Thread &a, const Thread &b) { return a.entries.size() < b.entries.size(); });
  biggest->entries.pop_front();
  --entries_;
}

const ForwardTable::Thread *ForwardTable::maker(uint64_t torch_thread) const {
  const Thread *nameless = nullptr;
  for (const Thread &thread : threads_) {
    if (torch_thread && thread.torch_thread == torch_thread) return &thread;
    if (!thread.torch_thread) nameless = &thread;
  }
  if (torch_thread && !nameless) return nullptr;  // a thread that is known to be none of these
  if (torch_thread && threads_[latest_].torch_thread) return nameless;
  return latest_ == kNone ? nullptr : &threads_[latest_];
}

LineRef ForwardTable::find(uint64_t torch_thread, uint64_t sequence) const {
  const Thread *thread = maker(torch_thread);
  if (!thread || sequence >= GMT_SEQUENCE_ACCUMULATE - 1) return {};
  const uint64_t wanted = sequence + 1;
  const auto after = std::upper_bound(thread->entries.begin(), thread->entries.end(), wanted,
                                      [](uint64_t value, const Entry &entry) { return value < entry.sequence; });
  if (after == thread->entries.begin()) return {};
  const Entry &entry = *std::prev(after);
  return {entry.stack, entry.sequence == wanted ? LineSource::Forward : LineSource::ForwardNear};
}

}  // namespace gmt::model
