#pragma once
// The spelling of USDT arguments (`8@%rax -4@-20(%rbp) 8@$1`), as BPF reads them (ring.h).
#include <string_view>

#include "uprobe/bpf/ring.h"

namespace gmt::uprobe {

/// False: an argument is spelled in a way that is not known, or there are too many.
bool parse_usdt_arguments(std::string_view text, gmt_up_usdt *out);

}  // namespace gmt::uprobe
