#pragma once
// The threads of an interpreter in another process, and where the C library keeps each one's thread state.
#include <cstdint>
#include <vector>

#include "uprobe/bpf/python_ring.h"
#include "uprobe/python/process.h"

namespace gmt::uprobe {

/// Where an interpreter lists its threads, in bytes.
struct ThreadPlaces {
  uint16_t interpreters;  ///< _PyRuntime: newest interpreter, and behind it the main one
  uint16_t threads;       ///< PyInterpreterState: newest thread
  uint16_t thread_next;   ///< PyThreadState: next older one
  uint16_t thread_id;     ///< PyThreadState: its pthread_t
};

/// `description`: the first bytes of _PyRuntime, from 3.13 on.
ThreadPlaces thread_places(uint32_t version, const std::vector<char> &description);

/// Whether there is a main interpreter with a thread.
bool is_initialized(const ForeignProcess &process, uint64_t runtime, const ThreadPlaces &places);

/// From a thread's pointer to glibc's pointers to its blocks of thread data, as glibc tells debuggers; 0: it is not glibc, or one
/// with blocks unlike those of all its versions so far.
uint32_t thread_data_offset(const ForeignProcess &process, const std::vector<MappedFile> &files);

/// Finds the key of the thread states in the `runtime_bytes` of _PyRuntime, at `hint` first: a thread of the interpreter must have
/// its own state there. Sets `thread_key` and `first_block` of `in`, whose `runtime` and `blocks` are set. False: no thread has.
bool find_thread_key(const ForeignProcess &process, const ThreadPlaces &places, uint32_t hint, size_t runtime_bytes,
                     gmt_python_interpreter &in);

}  // namespace gmt::uprobe
