#pragma once
// The BPF programs as bpftool packs them, behind what their globals are made of.
#include "uprobe/bpf/python_ring.h"
#include "uprobe/bpf/ring.h"
//
#include "trace.skel.h"
