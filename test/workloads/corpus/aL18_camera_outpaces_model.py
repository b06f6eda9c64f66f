"""Video analytics: two camera threads feed frames to a detector which runs in the main thread.

Report: https://github.com/deep-learning-with-pytorch/dlwpt-code/issues/26
Class: queue-unbounded
"""
import queue
import threading
import time

import torch
import torch.nn as nn

frames = queue.Queue()
stop = threading.Event()


def camera(seed, rate=120):
    """Reads frames at a fixed rate, as a camera does."""
    generator = torch.Generator().manual_seed(seed)
    while not stop.is_set():
        image = torch.rand(3, 64, 64, generator=generator)
        image = image.to("cuda").sub(0.5)  # SITE
        frames.put((seed, image))  # HOLDER
        time.sleep(1 / rate)


def build_detector():
    return nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 4)).to("cuda").eval()


def main():
    torch.manual_seed(15)
    detector = build_detector()
    cameras = [threading.Thread(target=camera, args=(seed,), daemon=True) for seed in (0, 1)]
    for thread in cameras:
        thread.start()
    with torch.no_grad():
        for handled in range(1, 201):
            _, image = frames.get()
            scores = detector(image.unsqueeze(0)).softmax(-1)
            time.sleep(0.015)  # drawing and sending the result
            if handled % 50 == 0:
                print(f"{handled} frames handled, {scores.shape[1]} scores each")
    stop.set()
    for thread in cameras:
        thread.join()


if __name__ == "__main__":
    main()
