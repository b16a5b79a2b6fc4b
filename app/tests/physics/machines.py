# SPDX-License-Identifier: Apache-2.0
"""The experiments that probes turn, as dictionaries."""
KIB, MIB, GIB = 2**10, 2**20, 2**30


def named(source, system):
    return str(source / f"configs/systems/{system}.json")


def collective(system, kind="all_reduce", size=64 * MIB, ranks=0, datatype="float32", **policy):
    return {
        "name": "probe", "system": system, "causes": False,
        "workload": {"type": "collective", "collective": kind, "size": f"{size} B", "ranks": ranks, "datatype": datatype},
        "scenarios": [{"name": "s", "collectives": {kind: policy}} if policy else {"name": "s"}],
    }


def overlapped(system, workload, algorithm="ring", causes=False):
    """A workload serial, and with its collectives beside compute."""
    return {
        "name": "probe", "system": system, "workload": workload, "causes": causes,
        "scenarios": [{"name": "serial", "overlap": False, "all_reduce": {"algorithm": algorithm}},
                      {"name": "overlapped", "all_reduce": {"algorithm": algorithm}}],
    }


def example(source, ranks=4):
    """The README's example: a trace of ResNet-50, recorded on an H100."""
    return {"type": "trace", "files": [str(source / "configs/examples/resnet50_ddp_synthetic.json.gz")], "ranks": ranks}


def step(ranks=4, blocks=2, hidden=1024, sequence=512, batch=4, **more):
    """A small decoder's training step, data parallel."""
    return {"type": "training", "ranks": ranks, "batch": batch,
            "transformer": {"blocks": blocks, "hidden": hidden, "sequence": sequence, "vocabulary": 8000}} | more


def planned(network="resnet50", **plan):
    return {"type": "training", "network": network, "plan": plan}


def gpt(layers=2, hidden=1024, sequence=512, vocabulary=8000):
    return {"type": "gpt", "layers": layers, "hidden": hidden, "heads": hidden // 64, "sequence": sequence,
            "vocabulary": vocabulary}


def beside(system, kernel, size=16 * MIB, ranks=4, kernels=8, collectives=4, algorithm="ring"):
    """A kernel in a row beside a collective in a row."""
    return {
        "name": "probe", "system": system, "causes": False,
        "workload": {"type": "kernel_beside_collective", "kernel": kernel, "collective": "all_reduce",
                     "size": f"{size} B", "ranks": ranks, "kernels": kernels, "collectives": collectives},
        "scenarios": [{"name": "s", "all_reduce": {"algorithm": algorithm}}],
    }


def product(m, n, k, datatype="bfloat16"):
    return {"type": "matrix_product", "m": m, "n": n, "k": k, "datatype": datatype}


def stream(read, written, blocks=2048):
    """A kernel that reads and writes, and nothing else."""
    return {"type": "launch", "grid": [blocks], "block": [256], "bytes_read": f"{read} B", "bytes_written": f"{written} B"}


# Figures of a result.

def taken(bench, experiment):
    """The time of a single collective, in us."""
    return bench.result(experiment)["scenarios"][0]["collectives"][0]["time_us"]


def figure(bench, experiment, scenario, key):
    return next(s for s in bench.result(experiment)["scenarios"] if s["name"] == scenario)[key]
