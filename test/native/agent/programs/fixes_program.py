"""Runs the cases of a folder, each a small training as people write it, in a thread of its own: `fixes_program.py FOLDER`. While all of
them stand after their twelfth step it asks the agent, where there is one, who holds what they keep. Prints for each case what it
printed and how many tensors of its older steps are alive."""

import collections
import json
import os
import queue
import sys
import threading
import types
import weakref

import torch
import tracing

tracing.leave_compiler_out()

STEPS, ALL_STEPS = 12, 16
ASKED, BUDGET_MS = 3, 90_000  # so often; a search counts its own time
F = torch.nn.functional
OLD = 3  # steps that variables of a loop and of what feeds it may still have


class Case:
    def __init__(self, path):
        self.name = os.path.basename(path)[:-3]
        self.path, self.printed, self.seen, self.step = path, [], [], 0
        self.stands, self.goes_on = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self.run)

    def watch(self, tensor):
        self.seen.append((self.step, weakref.ref(tensor), tensor.untyped_storage().data_ptr()))
        return tensor

    def batches(self):
        for _ in range(ALL_STEPS):
            if self.step == STEPS:
                self.stands.set()
                self.goes_on.wait()
            self.step += 1
            yield self.watch(torch.randn(8, 4, generator=self.chance)), torch.randn(8, 1, generator=self.chance)

    def print(self, *words):
        self.printed.append(" ".join(map(str, words)))

    def run(self):
        torch.manual_seed(7)
        self.chance = torch.Generator().manual_seed(7)  # its own: the cases take turns
        net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
        module = types.ModuleType(self.name)
        module.__file__ = self.path
        sys.modules[self.name] = module
        vars(module).update(
            torch=torch, F=F, nn=torch.nn, collections=collections, deque=collections.deque, queue=queue, batches=self.batches,
            model=lambda x: self.watch(net(x)), criterion=lambda one, other: self.watch(F.mse_loss(one, other)),
            optimizer=torch.optim.SGD(net.parameters(), lr=0.01), loader=range(ALL_STEPS), print=self.print,
        )  # fmt: skip
        try:
            with open(self.path) as file:
                exec(compile(file.read(), self.path, "exec"), vars(module))
        except Exception as error:
            self.printed.append(repr(error))
        self.stands.set()

    def kept(self):
        return [at for step, tensor, at in self.seen if step <= STEPS - OLD and tensor() is not None]


def main(folder):
    cases = [Case(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".py")]
    has_agent = tracing.begin() if tracing.FOLDER else False
    for case in cases:
        case.thread.start()
        case.stands.wait()
    kept = {case.name: case.kept() for case in cases}
    if has_agent:
        for number in range(ASKED):  # one answer has the lines of 100 holders
            told = [[hex(at), 4, 0] for case in cases[number::ASKED] for at in kept[case.name]]
            assert tracing.ask(number + 1, "holders", addresses=told, budgetMs=BUDGET_MS)
    for case in cases:
        case.goes_on.set()
        case.thread.join()
    print(json.dumps({case.name: {"kept": kept[case.name], "printed": case.printed} for case in cases}))


main(sys.argv[1])
