"""Imported behind torch: its first optimizer imports its compiler, which takes longer than PyTorch itself does. Here it finds none."""

import sys
import types

import torch

compiler = types.ModuleType("torch._dynamo")
compiler.disable = lambda function, recursive=True, **_more: function
compiler.graph_break = lambda: None
compiler.config = types.SimpleNamespace(error_on_nested_fx_trace=False)  # checkpointing reads it
sys.modules["torch._dynamo"] = torch._dynamo = compiler
torch._inductor = types.ModuleType("torch._inductor")
torch._inductor.config = types.ModuleType("torch._inductor.config")  # use_deterministic_algorithms writes to it, a profiler reads it
torch._inductor.config.triton = types.SimpleNamespace(cudagraphs=False)
sys.modules.update({each.__name__: each for each in (torch._inductor, torch._inductor.config)})
