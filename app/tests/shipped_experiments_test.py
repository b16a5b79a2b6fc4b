# SPDX-License-Identifier: Apache-2.0
"""Every shipped experiment ends with a result.

shipped_experiments_test.py PROGRAM ROOT [--slow]: those that take seconds, or the others. Without causes, which run the
same scenarios again.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

SLOW = {
    "asynchronous_pipeline_learning", "averaged_replicas", "congestion", "elastic_day", "jitter", "join_or_restart",
    "learning_in_8_bits", "llama3_405b_1024_gpus", "llama3_405b_16384_gpus", "llama3_405b_all_reduced",
    "llama3_70b_64_gb200", "llama3_8b_fsdp_128_gpus", "mixture_of_experts_plans", "offload_and_recompute", "one_average",
    "pipeline_in_less_memory", "resnet50_ddp_128_gpus", "seconds_to_target", "seconds_to_target_pcie", "sharded_members",
    "tile_release", "transformer_on_text"}
LIMIT_S = 600  # of the slowest, ten times


def run(experiment):
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run(
            [PROGRAM, "run", str(experiment), "--set", "/causes=false", "--jobs", "1", "--out", folder],
            capture_output=True, text=True, timeout=LIMIT_S, check=False)
        if ended.returncode != 0:
            return f"{experiment.name} ended with {ended.returncode}: {ended.stderr[-500:]}"
        result = json.loads((pathlib.Path(folder) / "result.json").read_text(encoding="utf-8"))
        return "" if result["scenarios"] else f"{experiment.name} has no scenario in its result"


class ShippedExperiments(unittest.TestCase):
    def test_each_ends_with_a_result(self):
        there = sorted((ROOT / "configs/experiments").glob("*.json"))
        names = {path.stem for path in there}
        self.assertEqual(SLOW - names, set(), "are not shipped")
        asked = [path for path in there if (path.stem in SLOW) == ALL_SLOW]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = [what for what in pool.map(run, asked) if what]
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    ALL_SLOW = "--slow" in sys.argv
    PROGRAM, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
