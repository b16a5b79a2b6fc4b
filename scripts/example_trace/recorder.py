# SPDX-License-Identifier: Apache-2.0
"""Records threads, streams and their events in the format of PyTorch's profiler."""
from .kernels import dims3, whole_ns
from .network import FLOAT

KERNEL_GAP_NS = 1000  # between consecutive kernels of a stream; assumption
LAUNCH_CALL_NS = 4000  # cudaLaunchKernel; assumption
OPERATOR_NS = 3000  # PyTorch's overhead around the launch; assumption
PCIE_BYTES_PER_S = 55.4e9  # gen 5 x16, host to device, H200 (stas00/ml-engineering)
# Ring all-reduce on 8 H100: 360 GB/s bus bandwidth (12 rings of 30 GB/s, from NCCL's own search),
# and about 20 us for small sizes (odissei-benchmarks/nccl-tests).
BUS_BYTES_PER_S = 360e9
ALL_REDUCE_FLOOR_NS = 20000

RANKS = 8
COMPUTE_STREAM, COLLECTIVE_STREAM = 7, 20
MAIN_THREAD, AUTOGRAD_THREAD, CPU = 1000, 1001, 900


class Recorder:
    def __init__(self):
        self.events = []
        self.cpu_ns = 0
        self.thread = MAIN_THREAD
        self.free_ns = {COMPUTE_STREAM: 0, COLLECTIVE_STREAM: 0}
        self.correlation = 0
        self.external = 0
        self.ready_ns = 0  # when the dependencies of the next compute kernel are met

    def event(self, category, name, pid, tid, start, duration, args):
        self.events.append(
            {
                "ph": "X",
                "cat": category,
                "name": name,
                "pid": pid,
                "tid": tid,
                "ts": start / 1000,
                "dur": duration / 1000,
                "args": args,
            }
        )

    def call(self, name, ns, correlated=True):
        """Records a CUDA runtime call on the current thread. Returns its correlation and end."""
        args = {"External id": self.external}
        if correlated:
            self.correlation += 1
            args["correlation"] = self.correlation
        self.event("cuda_runtime", name, CPU, self.thread, self.cpu_ns, ns, args)
        self.cpu_ns += ns
        return self.correlation, self.cpu_ns

    def gpu(self, category, name, stream, after_ns, ns, correlation, args):
        start = max(after_ns, self.free_ns[stream] + KERNEL_GAP_NS)
        self.free_ns[stream] = start + ns
        common = {
            "External id": self.external,
            "device": 0,
            "context": 1,
            "stream": stream,
            "correlation": correlation,
        }
        self.event(category, name, 0, stream, start, ns, {**common, **args})
        return start + ns

    def operator(self, name, shapes, body):
        """Records a CPU operator around `body`; kernels that it launches carry its External id."""
        outer, begin = self.external, self.cpu_ns
        self.external = max(self.external, self.next_external)
        self.next_external = self.external + 1
        mine = self.external
        self.cpu_ns += OPERATOR_NS // 2
        body()
        self.cpu_ns += OPERATOR_NS - OPERATOR_NS // 2
        args = {"External id": mine}
        if shapes is not None:
            args["Input Dims"] = shapes
            args["Input type"] = ["float" if s else "Scalar" for s in shapes]
        self.event("cpu_op", name, CPU, self.thread, begin, self.cpu_ns - begin, args)
        self.external = outer

    next_external = 1

    def annotation(self, name, begin):
        self.event("user_annotation", name, CPU, MAIN_THREAD, begin, self.cpu_ns - begin, {})

    def launch(self, kernel):
        correlation, end = self.call("cudaLaunchKernel", LAUNCH_CALL_NS)
        after = max(end, self.ready_ns)
        self.gpu(
            "kernel",
            kernel.name,
            COMPUTE_STREAM,
            after,
            kernel.ns,
            correlation,
            {
                "queued": 0,
                "registers per thread": kernel.registers,
                "shared memory": kernel.shared,
                "grid": kernel.grid,
                "block": kernel.block,
            },
        )

    def run(self, name, shapes, *kernels):
        self.operator(name, shapes, lambda: [self.launch(kernel) for kernel in kernels])

    def copy(self, kind, size):
        correlation, end = self.call("cudaMemcpyAsync", LAUNCH_CALL_NS)
        ns = whole_ns(size / PCIE_BYTES_PER_S * 1e9)
        name = {"HtoD": "Memcpy HtoD (Pinned -> Device)", "DtoH": "Memcpy DtoH (Device -> Pinned)"}
        args = {"bytes": size, "memory bandwidth (GB/s)": round(size / ns, 3)}
        return self.gpu("gpu_memcpy", name[kind], COMPUTE_STREAM, end, ns, correlation, args)

    def all_reduce(self, count):
        """DDP reduces a full bucket: NCCL's stream waits for the compute stream's queued work."""
        ready = self.free_ns[COMPUTE_STREAM]

        def body():
            begin = self.cpu_ns
            self.call("cudaEventRecordWithFlags", 1000)
            self.call("cudaStreamWaitEvent", 1000)
            correlation, end = self.call("cudaLaunchKernelExC", LAUNCH_CALL_NS)
            size = count * FLOAT
            ns = ALL_REDUCE_FLOOR_NS + round(2 * (RANKS - 1) / RANKS * size / BUS_BYTES_PER_S * 1e9)
            self.gpu(
                "kernel",
                "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                COLLECTIVE_STREAM,
                max(end, ready + KERNEL_GAP_NS),
                ns,
                correlation,
                {
                    "queued": 0,
                    "registers per thread": 96,
                    "shared memory": 82240,
                    "grid": dims3(24),
                    "block": dims3(544),
                    "Collective name": "allreduce",
                    "In msg nelems": count,
                    "Out msg nelems": count,
                    "Group size": RANKS,
                    "dtype": "Float",
                    "Process Group Name": "0",
                    "Process Group Description": "default_pg",
                    "Process Group Ranks": str(list(range(RANKS))),
                },
            )
            self.event(
                "user_annotation",
                "nccl:all_reduce",
                CPU,
                self.thread,
                begin,
                self.cpu_ns - begin,
                {},
            )

        self.operator("c10d::allreduce_", [[count]], body)
