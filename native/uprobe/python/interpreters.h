#pragma once
// The map of interpreters: every traced process has a place in it from the start, so that only its value changes once its
// interpreter is there. A forked child has its parent's place, because it has its addresses.
#include <sys/types.h>

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
  uint32_t add(pid_t pid, uint64_t now_ns);
  /// BPF has given a forked child its parent's place.
  void add_child(pid_t child, uint32_t place);
  /// The process ended, or runs another program from here on (then add it again).
  void remove(pid_t pid, uint32_t place);

  /// The dynamic linker has mapped libraries in a process of this place. Where that stops the process, an interpreter that uses
  /// them is found before it does.
  void libraries_changed(uint32_t place, uint64_t now_ns);
  /// Looks again where an interpreter is not initialized yet. Call it now and then.
  void poll(uint64_t now_ns);
  /// When `poll` has something to do next; ~0: never.
  uint64_t next_poll_ns() const;

  /// kNone for place 0.
  const PythonTarget &target(uint32_t place) const;

 private:
  struct Place {
    std::vector<pid_t> pids;
    PythonTarget target;
    uint64_t first_ns = 0;     ///< when an interpreter that is not initialized was seen first
    uint64_t next_ns = ~0ull;  ///< when to look again
    std::string refused;       ///< why it was refused at the last look; final if the next one says the same
  };
  Place *at(uint32_t place);
  void identify(uint32_t place, uint64_t now_ns);
  void try_later(Place &here, uint64_t now_ns);
  void store(uint32_t place, const gmt_python_interpreter &value);

  int map_;
  Found found_;
  std::vector<Place> places_ = std::vector<Place>(1);  ///< 0 is none
};

}  // namespace gmt::uprobe
