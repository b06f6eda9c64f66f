#pragma once
// The map of interpreters: every traced process has a place in it from the start, so that only its value changes once its
// interpreter is there. A forked child has its parent's place, because it has its addresses.
#include <bpf/bpf.h>
#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "uprobe/python/target.h"

namespace gmt::uprobe {

class PythonInterpreters {
 public:
  /// Says what was found for a process. `support` is final.
  using Found = std::function<void(pid_t pid, const PythonTarget &target)>;

  /// `map`: descriptor of gmt_interpreters.
  PythonInterpreters(int map, Found found) : map_(map), found_(std::move(found)) {}

  /// Gives a process its place and looks for its interpreter. 0: no place is free; it gets no stacks.
  uint32_t add(pid_t pid, uint64_t now_ns) {
    auto free = std::find_if(places_.begin() + 1, places_.end(), [](const Place &p) { return p.pids.empty(); });
    if (free == places_.end()) {
      if (places_.size() == kMostPlaces) return 0;
      free = places_.emplace(free);
    }
    *free = Place{};
    free->pids = {pid};
    const auto place = static_cast<uint32_t>(free - places_.begin());
    identify(place, now_ns);
    return place;
  }
  /// BPF has given a forked child its parent's place.
  void add_child(pid_t child, uint32_t place) {
    Place *shared = at(place);
    if (!shared) return;
    shared->pids.push_back(child);
    if (is_final(shared->target.support)) found_(child, shared->target);
  }
  /// The process ended, or runs another program from here on (then add it again).
  void remove(pid_t pid, uint32_t place) {
    Place *left = at(place);
    if (!left) return;
    std::erase(left->pids, pid);
    if (!left->pids.empty()) return;
    *left = Place{};
    store(place, {});
  }

  /// The dynamic linker has mapped libraries in a process of this place.
  void libraries_changed(uint32_t place, uint64_t now_ns) {
    Place *changed = at(place);
    if (changed && !is_final(changed->target.support)) identify(place, now_ns);
  }
  /// Looks again where an interpreter is not initialized yet. Call it now and then.
  void poll(uint64_t now_ns) {
    for (uint32_t place = 1; place < places_.size(); place++)
      if (places_[place].next_ns <= now_ns) identify(place, now_ns);
  }
  /// When `poll` has something to do next; ~0: never.
  uint64_t next_poll_ns() const {
    uint64_t next = ~0ull;
    for (const Place &place : places_) next = std::min(next, place.next_ns);
    return next;
  }

  /// kNone for place 0.
  const PythonTarget &target(uint32_t place) const { return places_[place < places_.size() ? place : 0].target; }

 private:
  static constexpr uint32_t kMostPlaces = 8192;  // max_entries of gmt_interpreters
  static constexpr uint64_t kMillisecond = 1000000, kFirstPause = 20 * kMillisecond,
                            kLongestPause = 1000 * kMillisecond;
  /// So long an interpreter may take to start before it is given up.
  static constexpr uint64_t kPatience = 60000 * kMillisecond;
  static bool is_final(PythonSupport support) {
    return support == PythonSupport::kReady || support == PythonSupport::kUnsupported;
  }

  struct Place {
    std::vector<pid_t> pids;
    PythonTarget target;
    uint64_t first_ns = 0;     ///< when an interpreter that is not initialized was seen first
    uint64_t next_ns = ~0ull;  ///< when to look again
    std::string refused;       ///< why it was refused at the last look; final if the next one says the same
  };
  Place *at(uint32_t place) {
    return place != 0 && place < places_.size() && !places_[place].pids.empty() ? &places_[place] : nullptr;
  }
  void identify(uint32_t place, uint64_t now_ns) {
    Place &here = places_[place];
    here.target = find_python(here.pids.front());
    here.next_ns = ~0ull;
    // A library that is half mapped at this moment looks like none that is known.
    if (here.target.support == PythonSupport::kUnsupported && here.target.reason != here.refused) {
      here.refused = here.target.reason;
      here.target.support = PythonSupport::kNotYet;
    }
    if (here.target.support == PythonSupport::kNotYet) try_later(here, now_ns);
    if (here.target.support == PythonSupport::kReady) store(place, here.target.interpreter);
    if (is_final(here.target.support))
      for (const pid_t pid : here.pids) found_(pid, here.target);
  }
  void try_later(Place &here, uint64_t now_ns) {
    if (here.first_ns == 0) here.first_ns = now_ns;
    const uint64_t waited = now_ns - here.first_ns;
    here.next_ns = now_ns + std::clamp(waited / 2, kFirstPause, kLongestPause);
    if (waited <= kPatience) return;
    here.target.reason = unsupported_sentence(here.target.version, here.target.reason);
    here.target.support = PythonSupport::kUnsupported;
    here.next_ns = ~0ull;
  }
  void store(uint32_t place, const gmt_python_interpreter &value) {
    bpf_map_update_elem(map_, &place, &value, BPF_ANY);
  }

  int map_;
  Found found_;
  std::vector<Place> places_ = std::vector<Place>(1);  ///< 0 is none
};

}  // namespace gmt::uprobe
