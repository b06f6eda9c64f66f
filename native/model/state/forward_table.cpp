#include "model/state/forward_table.h"

#include <algorithm>

namespace gmt::model {

ForwardTable::Thread &ForwardTable::thread_of(uint32_t number, uint64_t torch_thread) {
  const bool again = latest_ != kNone && threads_[latest_].number == number;
  if (!again) {
    const auto known = places_.find(number);
    latest_ = known != places_.end() ? known->second : make_thread(number, torch_thread);
  }
  Thread &own = threads_[latest_];
  own.used = ++uses_;
  if (torch_thread) own.torch_thread = torch_thread;
  return own;
}

uint32_t ForwardTable::make_thread(uint32_t number, uint64_t torch_thread) {
  auto place = threads_.end();
  if (threads_.size() < kThreads) {
    place = threads_.emplace(place);
  } else {
    place = std::min_element(threads_.begin(), threads_.end(),
                             [](const Thread &a, const Thread &b) { return a.used < b.used; });
    places_.erase(place->number);
    entries_ -= place->entries.size();
  }
  *place = {number, torch_thread, false, 0, {}};
  return places_[number] = static_cast<uint32_t>(place - threads_.begin());
}

void ForwardTable::note(uint32_t thread, uint64_t torch_thread, uint64_t sequence, uint32_t stack) {
  if (sequence == 0 || sequence == GMT_SEQUENCE_ACCUMULATE) return;
  Thread &own = thread_of(thread, torch_thread);
  const bool known = own.has_nodes || (!own.entries.empty() && own.entries.back().sequence == sequence);
  if (!known) append(own, sequence, stack);
}

void ForwardTable::note_node(uint32_t thread, uint64_t torch_thread, uint64_t sequence, uint32_t stack) {
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
