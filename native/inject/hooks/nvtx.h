#pragma once
// Ranges that the program names.

namespace gmt::inject {

/// A range of the calling thread begins, below those that it has open. `name`: UTF-8, cut at GMT_MOST_RANGE_NAME bytes.
void push_range(const char *name);
/// Ends the innermost one.
void pop_range();

}  // namespace gmt::inject
