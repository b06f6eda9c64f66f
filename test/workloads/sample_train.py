"""A small training script with a memory leak in it: try the tracer on this one.

It needs nothing but Python: where there is no GPU, `gpu-memtrace run --simulate-gpu` gives it a simulated one. The
numbers are not computed, only the memory is used as a network of this size would use it.
"""

import argparse
import random
import time

import gpu

FLOAT = 4  # bytes


class Tensor:
    """A block of GPU memory with a shape."""

    def __init__(self, data, shape):
        self.data = data
        self.shape = shape


class Linear:
    """A fully connected layer: weights and bias, and their gradients during a step."""

    def __init__(self, inputs, outputs):
        self.inputs, self.outputs = inputs, outputs
        self.weight = Tensor(gpu.empty(inputs * outputs * FLOAT), (outputs, inputs))
        self.bias = Tensor(gpu.empty(outputs * FLOAT), (outputs,))
        self.gradients = None

    def forward(self, batch):
        activation = gpu.empty(batch.shape[0] * self.outputs * FLOAT)
        return Tensor(activation, (batch.shape[0], self.outputs))

    def backward(self):
        weight_gradient = gpu.empty(self.inputs * self.outputs * FLOAT)
        bias_gradient = gpu.empty(self.outputs * FLOAT)
        self.gradients = (weight_gradient, bias_gradient)

    def zero_grad(self):
        self.gradients = None


class Network:
    """Three layers; forward() keeps the activations that backward() needs."""

    def __init__(self, features, hidden, classes):
        self.layers = [Linear(features, hidden), Linear(hidden, hidden), Linear(hidden, classes)]
        self.saved = []

    def forward(self, batch):
        for layer in self.layers:
            batch = layer.forward(batch)
            self.saved.append(batch)
        return batch

    def backward(self):
        for layer in reversed(self.layers):
            layer.backward()
            self.saved.pop()


class Adam:
    """Two moments for each weight, made at the first step as PyTorch does."""

    def __init__(self, network):
        self.network = network
        self.moments = {}

    def step(self):
        for layer in self.network.layers:
            if layer not in self.moments:
                size = layer.inputs * layer.outputs * FLOAT
                self.moments[layer] = (gpu.empty(size), gpu.empty(size))

    def zero_grad(self):
        for layer in self.network.layers:
            layer.zero_grad()


class Batches:
    """Random batches, as a data loader would give them."""

    def __init__(self, count, features):
        self.count = count
        self.features = features

    def __iter__(self):
        for _ in range(self.count):
            rows = random.choice((192, 256, 320))
            yield Tensor(gpu.empty(rows * self.features * FLOAT), (rows, self.features))


class Trainer:
    def __init__(self, options):
        self.options = options
        self.network = Network(options.features, options.hidden, options.classes)
        self.optimizer = Adam(self.network)
        self.losses = []

    def train_step(self, batch):
        output = self.network.forward(batch)
        loss = self.loss_of(output)
        self.network.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        # The leak: `loss` still has its whole log-probability table on the GPU. A number was meant to be kept.
        self.losses.append(loss)
        return loss

    def loss_of(self, output):
        log_probabilities = gpu.empty(output.shape[0] * output.shape[1] * FLOAT)  # leaks with every step
        return Tensor(log_probabilities, output.shape)

    def run(self):
        pause = self.options.seconds / self.options.steps
        for step, batch in enumerate(Batches(self.options.steps, self.options.features), start=1):
            self.train_step(batch)
            if step % 20 == 0 or step == self.options.steps:
                kept = sum(gpu.rounded_bytes(loss.data) for loss in self.losses)
                print("step %3d/%d  kept by losses: %.1f MiB" % (step, self.options.steps, kept / gpu.MIB), flush=True)
            time.sleep(pause)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=160)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--features", type=int, default=1024)
    parser.add_argument("--hidden", type=int, default=2048)
    parser.add_argument("--classes", type=int, default=1000)
    options = parser.parse_args()
    random.seed(7)
    trainer = Trainer(options)
    trainer.run()
    print("training finished")
    return trainer


if __name__ == "__main__":
    trainer = main()  # kept to the end, as a notebook or a script without functions does
