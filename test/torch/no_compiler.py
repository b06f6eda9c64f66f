"""Imported behind torch: its first optimizer imports its compiler, which takes longer than PyTorch itself does. Here it finds none."""

import sys
import types

import torch

compiler = types.ModuleType("torch._dynamo")
compiler.disable = lambda function, recursive=True, **_more: function
compiler.graph_break = lambda: None
compiler.config = types.SimpleNamespace(error_on_nested_fx_trace=False)  # checkpointing reads it
compiler.eval_frame = types.ModuleType("torch._dynamo.eval_frame")  # the profiler of PyTorch 2.1 hooks it
compiler.eval_frame.set_profiler_hooks = compiler.eval_frame.clear_profiler_hooks = lambda *_words: None
sys.modules.update({each.__name__: each for each in (compiler, compiler.eval_frame)})
torch._dynamo = compiler
torch._inductor = types.ModuleType("torch._inductor")
torch._inductor.config = types.ModuleType("torch._inductor.config")  # use_deterministic_algorithms writes to it, a profiler reads it
torch._inductor.config.triton = types.SimpleNamespace(cudagraphs=False)
torch._inductor.config.is_fbcode = lambda: False  # PyTorch 2.4 calls it
sys.modules.update({each.__name__: each for each in (torch._inductor, torch._inductor.config)})
