#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program to capture without a GPU: calls NCCL's profiler plugin as NCCL does, once per all-reduce.

The structures are those of workloads/capture/nccl/interface.h, version 4. Once the plugin has accepted a call, the
program writes the call's number to TOLD, so that a test that kills it knows what the capture must contain.

usage: captured_program.py CALLS TOLD
"""
import ctypes
import os
import sys


class Collective(ctypes.Structure):
    _fields_ = [
        ("sequence", ctypes.c_uint64), ("function", ctypes.c_char_p), ("send", ctypes.c_void_p), ("receive", ctypes.c_void_p),
        ("count", ctypes.c_size_t), ("root", ctypes.c_int), ("datatype", ctypes.c_char_p), ("channels", ctypes.c_uint8),
        ("warps", ctypes.c_uint8), ("algorithm", ctypes.c_char_p), ("protocol", ctypes.c_char_p),
    ]


class Description(ctypes.Structure):
    _fields_ = [("type", ctypes.c_uint8), ("parent", ctypes.c_void_p), ("rank", ctypes.c_int), ("collective", Collective)]


POINTER = ctypes.c_void_p
INIT = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(POINTER), ctypes.POINTER(ctypes.c_int), ctypes.c_char_p, ctypes.c_uint64, ctypes.c_int,
    ctypes.c_int, ctypes.c_int, POINTER)
START = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, ctypes.POINTER(POINTER), ctypes.POINTER(Description))
STOP = ctypes.CFUNCTYPE(ctypes.c_int, POINTER)
RECORD = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, ctypes.c_int, POINTER)


class Profiler(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("init", INIT), ("start", START), ("stop", STOP), ("record", RECORD), ("finalize", STOP)]


def main():
    calls, told = int(sys.argv[1]), os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    plugin = Profiler.in_dll(ctypes.CDLL(os.environ["NCCL_PROFILER_PLUGIN"]), "ncclProfiler_v4")
    context, mask, event = POINTER(), ctypes.c_int(), POINTER()
    assert plugin.init(context, mask, b"world", 77, 1, 8, 0, None) == 0
    for i in range(calls):
        part = Collective(i, b"AllReduce", None, None, 1000, 0, b"ncclFloat32", 24, 17, b"RING", b"SIMPLE")
        assert plugin.start(context, event, Description(2, None, 0, part)) == 0
        assert plugin.stop(event) == 0
        os.write(told, b"%d\n" % i)
    assert plugin.finalize(context) == 0


main()
