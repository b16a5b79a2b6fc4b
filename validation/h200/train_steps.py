#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a network with random weights and data for some steps on one GPU.

Steps, phases and operators are NVTX ranges, which a capture records. With --kineto,
torch.profiler records the same steps instead, since it cannot run beside another profiler.

usage: train_steps.py NETWORK [--steps N] [--warm-up N] [--kineto FILE] [--seed N]
"""
import argparse
import contextlib

import torch

from networks import NETWORKS, make_step


def run_steps(step, count, mark):
    for index in range(count):
        with mark(f"step {index}"):
            step(mark)
    torch.cuda.synchronize()


def nvtx_mark(name):
    return torch.cuda.nvtx.range(name)


def kineto_mark(name):
    marks = {"forward": "## forward ##", "backward": "## backward ##", "optimizer": "## optimizer ##"}
    if name.startswith("step "):
        return torch.profiler.record_function("ProfilerStep#" + name[len("step ") :])
    return torch.profiler.record_function(marks[name])


def no_mark(_name):
    return contextlib.nullcontext()


def train(arguments, mark):
    torch.manual_seed(arguments.seed)
    step = make_step(arguments.network)
    run_steps(step, arguments.warm_up, no_mark)
    run_steps(step, arguments.steps, mark)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network", choices=sorted(NETWORKS))
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--warm-up", type=int, default=2)
    parser.add_argument("--kineto")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    # Records everything, so that both recordings hold the same kernels from the first on.
    if arguments.kineto:
        with torch.profiler.profile(record_shapes=True) as profiler:
            train(arguments, kineto_mark)
        profiler.export_chrome_trace(arguments.kineto)
    else:
        with torch.autograd.profiler.emit_nvtx(record_shapes=True):
            train(arguments, nvtx_mark)


if __name__ == "__main__":
    main()
