#pragma once
// Whether this machine lets the program attach, found by doing it: to a throw-away function of the program itself.
#include "uprobe/attach/privileges.h"

namespace gmt::uprobe {

/// Says what it found as one line of JSON. Exit status: 0 = attaching works, 1 = it does not.
int self_test(const Rights &rights);

}  // namespace gmt::uprobe
