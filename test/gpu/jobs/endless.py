"""A transformer that trains for GMT_SECONDS without a pause, and on a busy machine until a million events are there. A few layers, so that
they come as fast as Python makes them."""
import os
import time

import transformer
import truth

trainer = transformer.Trainer()
end = time.monotonic() + float(os.environ["GMT_SECONDS"])
steps = 0
while time.monotonic() < end or truth.memory_stats()["allocation.all"]["allocated"] < 500_000:
    trainer.step()
    steps += 1
truth.write(stats=truth.memory_stats(), steps=steps)
