# SPDX-License-Identifier: Apache-2.0
"""Small Kineto traces for tests: ranks that compute and communicate in steps, and ways to break them."""
import copy
import json

GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n"
KINDS = {
    "allreduce": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "_allgather_base": "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "_reduce_scatter_base": "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "all_to_allv": "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
    "send": "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
    "recv": "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
}


def gemm(us, name=GEMM):
    return {"kind": "kernel", "us": us, "name": name}


def collective(kind, us, elements=4194304, group="0", ranks=None, **more):
    """A call of a collective that its rank waits for; `more` goes into the arguments."""
    return {"kind": "collective", "us": us, "call": kind, "elements": elements, "group": group, "ranks": ranks,
            "more": more}


class Recording:
    """One rank's trace: operations of each step run one after another, 8 us behind the step's mark."""

    BEGIN = 1_000_000.0

    def __init__(self, rank, world, distributed=True, gpu="NVIDIA H100 80GB HBM3"):
        self.rank, self.world = rank, world
        self.events = []
        self.time = self.BEGIN
        self.correlation = 100
        self.external = 0
        self.header = {
            "schemaVersion": 1,
            "deviceProperties": [{"id": 0, "name": gpu, "totalGlobalMem": 85018279936, "numSms": 132}]}
        if distributed:
            self.header["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": world}

    def _event(self, category, name, start, us, args, pid=100, tid=1):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": us,
                            "args": args})
        return self.events[-1]

    def _kernel(self, host, start, us, name, stream, grid, block, more, launch="cudaLaunchKernel"):
        self.correlation += 1
        self._event("cuda_runtime", launch, host + 2, 1.5, {"External id": self.external,
                                                            "correlation": self.correlation})
        args = {"External id": self.external, "device": 0, "stream": stream, "correlation": self.correlation,
                "registers per thread": 96, "shared memory": 0, "grid": grid, "block": block, **more}
        self._event("kernel", name, start, us, args, pid=0, tid=stream)

    def _arguments(self, op):
        ranks = op["ranks"] if op["ranks"] is not None else list(range(self.world))
        out = op["elements"] * (len(ranks) if op["call"] == "_allgather_base" else 1)
        return {"Collective name": op["call"], "dtype": "BFloat16", "In msg nelems": op["elements"],
                "Out msg nelems": out, "Group size": len(ranks), "Process Group Name": op["group"],
                "Process Group Ranks": json.dumps(ranks), **op["more"]}

    def run(self, operations, host=None):
        """Runs the operations one after another from now on; the host launches them at once."""
        host = self.time if host is None else host
        at = max(self.time + 8, getattr(self, "gpu_end", 0))
        for op in operations:
            self.external += 1
            host += 5
            if op["kind"] == "kernel":
                self._event("cpu_op", "aten::mm", host, 4.0, {"External id": self.external})
                self._kernel(host, at, op["us"], op["name"], 7, [264, 1, 1], [256, 1, 1], {})
            else:
                args = self._arguments(op)
                self._event("cpu_op", "record_param_comms", host, 4.0, {"External id": self.external, **args})
                kernels = op.get("kernels", 1)
                for k in range(kernels):
                    self._kernel(host + k * 0.2, at + k * op["us"] / kernels, op["us"] / kernels, KINDS[op["call"]],
                                 20, [24, 1, 1], [544, 1, 1], args, "cudaLaunchKernelExC")
            at += op["us"]
        self.gpu_end = at
        self.time = at + 10

    def step(self, number, operations, mark=True):
        begin = self.time
        self.run(operations, begin - 3)
        if mark:
            self._event("user_annotation", f"ProfilerStep#{number}", begin, self.time - begin - 2, {})

    def text(self):
        return json.dumps({**self.header, "traceEvents": self.events})


def recordings(world, steps, operations, distributed=True):
    """A recording a rank; `operations(rank)` are those of one step."""
    made = []
    for rank in range(world):
        recording = Recording(rank, world, distributed)
        for number in range(steps):
            recording.step(number, operations(rank))
        made.append(recording)
    return made


def copied(made):
    return copy.deepcopy(made)
