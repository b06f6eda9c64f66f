"""40 steps in which several things keep the same memory: lines that end in `# ALSO name` are where these are made, `# FIRST name` where
the one is that is named first. Asks behind the last step."""

import collections

import torch
import tracing


class Record:
    def __init__(self, value):
        self.value = value


class Meter:
    def __init__(self):
        self.values, self.last, self.sums = [], None, []

    def update(self, value):
        self.values.append(value)  # ALSO storage
        self.last = value


def tensor(kind, step, **more):
    return torch.Tensor(0x1000000 * (kind + 1) + 0x1000 * step, **more)


one, other, third = [], [], []
history = {"predictions": []}
meter = Meter()
records, pairs, rows = [], [], []
alone, copied, emptied, aged = [], [], [], collections.deque(maxlen=60)
losses, curve = [], []
outs, totals = [], []
drafts, finals = [], []
optimizer = torch.optim.Optimizer()


def train():
    for step in range(40):
        same = tensor(0, step)
        one.append(same)  # FIRST same
        other.append(same)  # ALSO same
        third.append((step, same))  # ALSO same
        history["predictions"].append(tensor(1, step))  # FIRST storage
        meter.update(tensor(1, step))
        record = Record(tensor(2, step))
        records.append(record)  # FIRST record
        pairs.append((step, record))  # ALSO record
        newest = tensor(3, step)
        rows.append({"raw": tensor(6, step), "plain": tensor(6, step)})  # FIRST rows
        alone.append(newest)  # FIRST alone
        aged.append(newest)
        copied = list(alone)
        emptied.append(newest)
        if len(emptied) > 30:
            emptied.clear()
        loss = tensor(4, 0, node=torch.Node(0x6000000 + 0x1000 * step))
        losses.append(loss)  # ALSO graph
        curve.append(loss)  # FIRST graph
        outs.append(tensor(7, step))  # FIRST traced
        totals.append(tensor(8, 0, node=torch.Node(0x8000000 + 0x1000 * step)))  # ALSO traced
        draft = tensor(10, step, node=torch.Node(0xA000000 + 0x1000 * step))
        drafts.append(draft)  # ALSO chain
        finals.append(tensor(11, step, node=torch.Node(0xA000000 + 0x1000 * step, draft.grad_fn)))  # FIRST chain
        optimizer.step()
    told = [[hex(0x1000000 * kind + 0x1000 * step), 512, 0] for kind in (1, 2, 3, 4, 6, 7, 8, 10) for step in range(40)]
    assert tracing.ask(1, "holders", addresses=told, budgetMs=20000)
    return copied


assert tracing.begin()
train()
