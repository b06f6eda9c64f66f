#pragma once
// For the BPF target: the fixed-width types come from the kernel's own vmlinux.h.
#include "vmlinux.h"
