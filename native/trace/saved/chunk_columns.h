#pragma once
// The slots of a chunk, arranged so that they pack well (native/wire/container.h), and back.
#include <cstddef>
#include <span>
#include <vector>

namespace gmt::trace {

/// Any bytes are slots.
std::vector<std::byte> to_columns(std::span<const std::byte> slots);

/// `slots` is as long as they were; false: these are no columns of so many.
bool from_columns(std::span<const std::byte> columns, std::span<std::byte> slots);

}  // namespace gmt::trace
