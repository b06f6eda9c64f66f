"""Imported behind torch: its first optimizer imports its compiler, which takes longer than PyTorch itself does. Here it finds none."""

import sys
import types

import torch

compiler = types.ModuleType("torch._dynamo")
compiler.disable = lambda function, recursive=True, **_more: function
compiler.graph_break = lambda: None
sys.modules["torch._dynamo"] = torch._dynamo = compiler
torch._inductor = types.ModuleType("torch._inductor")
torch._inductor.config = types.ModuleType("torch._inductor.config")  # use_deterministic_algorithms writes to it
sys.modules.update({each.__name__: each for each in (torch._inductor, torch._inductor.config)})
