# SPDX-License-Identifier: Apache-2.0
"""Runs the memory mover of cuda/ring_mover.h in this process, beside PyTorch."""
import contextlib
import ctypes
import time


class Params(ctypes.Structure):
    _fields_ = [
        ("blocks", ctypes.c_int),
        ("threads", ctypes.c_int),
        ("ranks", ctypes.c_int),
        ("shared_bytes", ctypes.c_size_t),
        ("slot_bytes", ctypes.c_size_t),
        ("user_bytes", ctypes.c_size_t),
        ("bytes_per_second", ctypes.c_double),
        ("most_seconds", ctypes.c_double),
    ]


class Report(ctypes.Structure):
    _fields_ = [
        ("seconds", ctypes.c_double),
        ("bytes", ctypes.c_uint64),
        ("registers_per_thread", ctypes.c_int),
        ("static_shared_bytes", ctypes.c_size_t),
    ]


class Mover:
    """A memory mover with about as many threads and as much shared memory as NCCL's kernels."""

    THREADS = 512
    SHARED_BYTES = 80 * 1024
    SLOT_BYTES = 1 << 20
    USER_BYTES = 64 << 20
    # After this time all blocks of the kernel are resident and its rate is steady.
    SETTLE_S = 0.005

    def __init__(self, library, blocks, bytes_per_second):
        self.library = ctypes.CDLL(str(library))
        self.library.ring_mover_error.restype = ctypes.c_char_p
        self.params = Params(
            blocks,
            self.THREADS,
            8,
            self.SHARED_BYTES,
            self.SLOT_BYTES,
            self.USER_BYTES,
            bytes_per_second,
            5.0,
        )
        self.handle = ctypes.c_void_p()
        self.call("create", ctypes.byref(self.params), ctypes.byref(self.handle))

    def call(self, name, *arguments):
        error = getattr(self.library, "ring_mover_" + name)(*arguments)
        if error:
            words = self.library.ring_mover_error(error).decode()
            raise RuntimeError(f"ring_mover_{name}: {words}")

    def close(self):
        self.call("destroy", self.handle)

    @contextlib.contextmanager
    def running(self, stream, reports):
        """Moves memory while the body runs, then appends its report. The body must not synchronise
        the device."""
        self.call("start", self.handle, ctypes.c_void_p(stream.cuda_stream))
        time.sleep(self.SETTLE_S)
        report = Report()
        try:
            yield
        finally:
            self.call("stop", self.handle, ctypes.byref(report))
            reports.append(report)
