#pragma once
// The BPF programs as bpftool packs them, behind what their globals are made of.
#include "uprobe/python_ring.h"
#include "uprobe/ring.h"
//
#include "trace.skel.h"
