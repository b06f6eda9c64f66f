"""Evolution strategy for a batched pole-balancing task with an elite archive."""
import heapq
import itertools

import torch

DEVICE = "cuda"
GENERATIONS = 180
POPULATION = 48
ARCHIVE = 40
HIDDEN = 640
EPISODES = 16
HORIZON = 130
SIGMA = 0.03


def fresh():
    return [torch.randn(4, HIDDEN, device=DEVICE) * 0.3,
            torch.randn(HIDDEN, HIDDEN, device=DEVICE) * HIDDEN ** -0.5,
            torch.randn(HIDDEN, 1, device=DEVICE) * 0.05]


def rollout(population):
    """Score of each individual: steps during which its poles stay up."""
    w1, w2, w3 = population
    state = (torch.rand(POPULATION, EPISODES, 4, device=DEVICE) - 0.5) * 0.1
    alive = torch.ones(POPULATION, EPISODES, device=DEVICE)
    score = torch.zeros(POPULATION, device=DEVICE)
    for _ in range(HORIZON):
        force = torch.tanh(torch.tanh(torch.tanh(state @ w1) @ w2) @ w3).squeeze(-1) * 10
        x, v, theta, omega = state.unbind(-1)
        accel = (force + 0.05 * omega ** 2 * torch.sin(theta)) / 1.1
        alpha = (9.8 * torch.sin(theta) - torch.cos(theta) * accel) / 0.65
        state = torch.stack([x + 0.02 * v, v + 0.02 * accel,
                             theta + 0.02 * omega, omega + 0.02 * alpha], dim=-1)
        alive = alive * (theta.abs() < 0.3) * (x.abs() < 2.4)
        score += alive.mean(1)
    return score


def main():
    torch.manual_seed(12)
    ticket = itertools.count()
    archive = []
    parent = fresh()
    for generation in range(GENERATIONS):
        population = [p + SIGMA * torch.randn(POPULATION, *p.shape, device=DEVICE) for p in parent]
        score = rollout(population)
        best = int(score.argmax())
        entry = (float(score[best]), next(ticket), [p[best].clone() for p in population])
        if len(archive) < ARCHIVE:
            heapq.heappush(archive, entry)
        else:
            heapq.heappushpop(archive, entry)
        elites = heapq.nlargest(6, archive)
        parent = [torch.stack(ps).mean(0) for ps in zip(*(e[2] for e in elites))]
    print(f"{GENERATIONS} generations, best {max(archive)[0]:.2f} of {HORIZON}, archive {len(archive)}")


main()
