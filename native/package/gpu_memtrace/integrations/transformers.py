"""`trainer.add_callback(GpuMemtraceCallback(trainer))`: marks, and figures for the trainer's logger."""

import warnings
from typing import Any, Dict, Optional

from transformers import Trainer, TrainerCallback, TrainerControl, TrainerState, TrainingArguments

import gpu_memtrace


class GpuMemtraceCallback(TrainerCallback):
    """Marks evaluation and saving in the trace, and logs `gpu_memory/…` (bytes) as often as the trainer logs. Steps are the optimizer's."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if not gpu_memtrace.recorded():
            warnings.warn("GpuMemtraceCallback: nothing is recorded; start the program with GPU_MEMTRACE=1.", stacklevel=2)
        gpu_memtrace.mark("training")

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if control.should_evaluate:
            gpu_memtrace.mark("evaluation at step %d" % state.global_step)

    on_epoch_end = on_step_end

    def on_evaluate(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        gpu_memtrace.mark("evaluated at step %d" % state.global_step)

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        gpu_memtrace.mark("saved at step %d" % state.global_step)

    def on_log(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, logs: Optional[Dict[str, float]] = None, **_: Any
    ) -> None:
        if logs is not None and not any(name.startswith("gpu_memory/") for name in logs):
            figures = gpu_memtrace.metrics()
            if figures:
                self.trainer.log(dict(figures))  # to all that logs of the trainer go to
