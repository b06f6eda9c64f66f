#pragma once
// Requests to the agent: files `request-<number>.json` in the trace directory, numbered from 1 up over all processes.
#include <stddef.h>
#include <stdint.h>

namespace gmt::inject {

struct Request {
  char *text;  ///< ends in NUL; null: none
  size_t bytes;
};

/// The next request to this process, in the order of their numbers; looks into the directory only where that has changed.
Request next_request();

/// Gives the request's memory back.
void forget_request(Request &request);

}  // namespace gmt::inject
