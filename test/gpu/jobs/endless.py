"""A transformer that trains for GMT_SECONDS without a pause, a few layers, so that the events come as fast as Python makes them."""
import os
import time

import transformer
import truth

trainer = transformer.Trainer()
end = time.monotonic() + float(os.environ["GMT_SECONDS"])
steps = 0
while time.monotonic() < end:
    trainer.step()
    steps += 1
truth.write(stats=truth.memory_stats(), steps=steps)
