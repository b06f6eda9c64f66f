import torch

_global_hooks = {}


def register_optimizer_step_post_hook(hook):
    _global_hooks[len(_global_hooks)] = hook


class Optimizer:
    def __init__(self, parameters=()):
        self.state, self.param_groups = {}, [{"params": list(parameters)}]

    def step(self):
        for hook in list(_global_hooks.values()):
            hook(self, (), {})


assert torch is not None
