"""Monte Carlo exposure profiles of a swap-like book under 24 stress scenarios."""
import math

import torch

DEV = "cuda"
DATES, DT = 120, 1 / 12
MIN_PATHS, MAX_PATHS = 2 ** 14, 2 ** 18


def scenario_grid():
    out = []
    for i, vol in enumerate((0.008, 0.010, 0.012, 0.015, 0.018, 0.022)):
        for j, speed in enumerate((0.02, 0.05, 0.10, 0.20)):
            out.append({"vol": vol, "speed": speed, "level": 0.02 + 0.002 * ((i + j) % 5)})
    return out


def simulate(scn, paths):
    """Exposure of each path at each date."""
    rate = torch.full((paths,), 0.03, device=DEV)
    exposures = []
    for k in range(DATES):
        shock = torch.randn(paths, device=DEV)
        rate = rate + scn["speed"] * (scn["level"] - rate) * DT + scn["vol"] * math.sqrt(DT) * shock
        years_left = (DATES - k) * DT
        annuity = (1 - torch.exp(-rate.clamp_min(1e-4) * years_left)) / rate.clamp_min(1e-4)
        value = (rate - 0.03) * annuity
        exposures.append(value.clamp_min(0))
    return exposures


def profile(exposures):
    table = torch.stack(exposures)
    expected = table.mean(dim=1)
    peak = table.sort(dim=1).values[:, int(0.975 * table.shape[1])]
    return expected.cpu(), peak.cpu(), (table.std(dim=1) / math.sqrt(table.shape[1])).max().item()


def main():
    torch.manual_seed(7)
    paths, profiles = MIN_PATHS, []
    for i, scn in enumerate(scenario_grid()):
        exposures = simulate(scn, paths)
        expected, peak, err = profile(exposures)
        profiles.append((expected, peak))
        if err > 1e-6 and i % 2 == 1:
            paths = min(paths * 2, MAX_PATHS)
    worst = max(p.max().item() for _, p in profiles)
    mean = sum(e.mean().item() for e, _ in profiles) / len(profiles)
    print(f"scenarios {len(profiles)} mean exposure {mean:.5f} worst peak {worst:.5f} paths {paths}")


if __name__ == "__main__":
    main()
