"""`Trainer(callbacks=[GpuMemtraceCallback()])`: marks, and figures for the trainer's loggers."""

import warnings
from typing import Any, Dict

from lightning.pytorch import Callback, LightningModule, Trainer

import gpu_memtrace


class GpuMemtraceCallback(Callback):
    """Marks evaluation and saving in the trace, and logs `gpu_memory/…` (bytes) every `log_every_n_steps`. Steps are the optimizer's."""

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if not gpu_memtrace.recorded():
            warnings.warn("GpuMemtraceCallback: nothing is recorded; start the program with GPU_MEMTRACE=1.", stacklevel=2)
        gpu_memtrace.mark("training")

    def on_train_batch_end(self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int) -> None:
        # The loggers themselves: what a module logs becomes a tensor, and a float.
        if trainer.loggers and trainer.global_step % getattr(trainer, "log_every_n_steps", 1) == 0:
            figures = gpu_memtrace.metrics()
            for logger in trainer.loggers if figures else []:
                logger.log_metrics(figures, step=trainer.global_step)

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        gpu_memtrace.mark("evaluation at step %d" % trainer.global_step)

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        gpu_memtrace.mark("evaluated at step %d" % trainer.global_step)

    def on_save_checkpoint(self, trainer: Trainer, pl_module: LightningModule, checkpoint: Dict[str, Any]) -> None:
        gpu_memtrace.mark("saving at step %d" % trainer.global_step)
