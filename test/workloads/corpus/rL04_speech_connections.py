"""Streaming speech recognition: each connection sends chunks of sound, what must be closed is noted on one exit stack.
Report: https://github.com/k2-fsa/sherpa/issues/30
Class: exit-stack
"""
import random
from contextlib import ExitStack

import torch
from torch import nn

CONNECTIONS, HIDDEN, CHUNK, MELS = 130, 256, 32, 40


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = nn.Conv1d(MELS, 128, 5, stride=2, padding=2)
        self.rnn = nn.GRU(128, HIDDEN, num_layers=2, batch_first=True)
        self.out = nn.Linear(HIDDEN, 40)

    def forward(self, sound, state):
        x = self.front(sound).relu().transpose(1, 2)
        x, state = self.rnn(x, state)
        return self.out(x).argmax(-1)[0], state


class Connection:
    def __init__(self, number):
        self.number = number
        self.history = torch.zeros(HIDDEN, 512, device="cuda")  # SITE
        self.state = None
        self.chunks = self.words = 0
        self.open = True

    def feed(self, encoder, sound):
        tokens, self.state = encoder(sound, self.state)
        self.history[:, self.chunks % 512] = self.state[-1, 0]
        self.chunks += 1
        self.words += int((tokens[1:] != tokens[:-1]).sum())

    def close(self):
        self.open = False


class Server:
    def __init__(self, encoder, stack):
        self.encoder = encoder
        self.stack = stack
        self.live = {}

    def accept(self, number):
        connection = Connection(number)
        self.live[number] = connection
        self.stack.callback(connection.close)  # HOLDER
        return connection

    def hang_up(self, number):
        connection = self.live.pop(number)
        connection.close()
        return connection.words


@torch.inference_mode()
def main():
    torch.manual_seed(30)
    rng = random.Random(30)
    encoder = Encoder().to("cuda").eval()
    words = chunks = 0
    with ExitStack() as stack:
        server = Server(encoder, stack)
        for number in range(CONNECTIONS):
            connection = server.accept(number)
            for _ in range(rng.randint(6, 26)):
                connection.feed(encoder, torch.randn(1, MELS, CHUNK, device="cuda"))
                chunks += 1
            words += server.hang_up(number)
            if number % 26 == 25:
                print(f"{number + 1} connections, {chunks} chunks, {words} words, {len(server.live)} open")
    print(f"words per chunk {words / chunks:.3f}")


main()
