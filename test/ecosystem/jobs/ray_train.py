"""Four workers of Ray Train, with the variables of their environment as JSON (first word)."""

import json
import sys

import ray
from ray.train import ScalingConfig
from ray.train.torch import TorchTrainer


def work():
    import rank  # beside this file

    rank.train(rank.rank)


ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": json.loads(sys.argv[1])})
TorchTrainer(work, scaling_config=ScalingConfig(num_workers=4)).fit()
