"""Imported behind torch: its first optimizer imports its compiler, which takes longer than PyTorch itself does. Here it finds none."""

import sys
import types

import torch

compiler = types.ModuleType("torch._dynamo")
compiler.disable = lambda function, recursive=True, **_more: function
compiler.graph_break = lambda: None
sys.modules["torch._dynamo"] = torch._dynamo = compiler
