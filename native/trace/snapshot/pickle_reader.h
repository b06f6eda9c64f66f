#pragma once
// Reads a pickle without running anything that it says: plain data only. (The format: Lib/pickletools.py of CPython.)
#include <cstddef>
#include <memory>
#include <string>

#include "trace/error.h"
#include "trace/snapshot/pickle_tree.h"

namespace gmt::trace {

/// Numbers, texts, lists, tuples, sets and dicts of pickle protocols 2 to 5. What would call or import something, and what is
/// damaged, is refused with one sentence that names the byte; `where` begins it. Memory stays below 16 times the pickle's size
/// and 64 MiB; its nesting costs no stack.
Result<PickleTree> read_pickle(std::unique_ptr<std::byte[]> bytes, size_t count, const std::string &where);

/// The same of a file, of up to 4 GiB.
Result<PickleTree> read_pickle_file(const std::string &path);

}  // namespace gmt::trace
