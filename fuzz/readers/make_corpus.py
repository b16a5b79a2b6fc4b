#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the fuzzers' corpus: small synthetic traces that each reader accepts.

usage: make_corpus.py [DIRECTORY]
"""
import gzip
import json
import pathlib
import sqlite3
import struct
import sys
import zlib


def kineto():
    def event(category, name, thread, start, duration, **args):
        return {
            "ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread,
            "ts": start, "dur": duration, "args": args,
        }

    kernel = {"grid": [8, 1, 1], "block": [128, 1, 1], "registers per thread": 32, "shared memory": 16}
    events = [
        event("user_annotation", "ProfilerStep#1", 1, 1.5, 200),
        event("cpu_op", "aten::mm", 1, 8, 10, **{
            "External id": 3, "Input Dims": [[64, 32], [32, 16]], "Input type": ["float", "float"],
        }),
        event("cuda_runtime", "cudaLaunchKernel", 1, 10, 2, correlation=1),
        event("kernel", "gemm", 7, 20, 5, stream=7, correlation=1, device=0, **kernel),
        event("cpu_op", "AddmmBackward0", 2, 26, 30),
        event("cuda_runtime", "cudaLaunchKernel", 2, 28, 2, correlation=2),
        event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, 31, 40, **{
            "stream": 20, "correlation": 2, "In msg nelems": 1000, "dtype": "Float", "Group size": 2,
            "Process Group Ranks": "[0, 1]", "Collective name": "allreduce", **kernel,
        }),
        event("cuda_runtime", "cudaStreamWaitEvent", 2, 31, 1),
        event("cuda_runtime", "cudaMemcpyAsync", 2, 32, 60, correlation=3),
        event("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 7, 80, 3, stream=7, correlation=3, bytes=4),
        {"ph": "s", "id": 1, "pid": 1, "tid": 1, "ts": 10, "cat": "ac2g", "name": "ac2g"},
    ]
    text = json.dumps({
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 84000000000, "numSms": 132}],
        "distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2},
        "traceEvents": events,
    }).encode()
    yield "small.json", text
    yield "small.json.gz", gzip.compress(text, mtime=0)


def own():
    records = [
        {"type": "trace", "version": 1, "world_size": 2, "steps": 2},
        {"type": "name", "text": "host"},
        {"type": "name", "text": "gemm"},
        {"type": "group", "name": "world", "ranks": [0, 1]},
        {"type": "rank", "rank": 0, "world_size": 2, "used": {"kernels": 1}, "warnings": ["a note"]},
        {"type": "stream", "kind": "host", "name": "host"},
        {"type": "stream", "name": "7", "priority": -1},
        {"type": "host", "name": 0, "stream": 0, "duration_ps": 1000},
        {"type": "kernel", "name": 1, "stream": 1, "after": [1], "start_ps": 5, "duration_ps": 900,
         "grid": [4, 2], "block": [128], "isolated_ps": 800, "isolated_from": "other_occurrence",
         "phase": "backward", "bytes_read": 10, "flops": 1e9, "class": "gemm_conv"},
        {"type": "collective", "name": 1, "stream": 1, "step": 1, "kind": "all_reduce", "group": 0,
         "sequence": 0, "bytes": 4096, "datatype": "bfloat16", "algorithm": "ring"},
        {"type": "copy", "name": 1, "stream": 1, "kind": "host_to_device", "bytes": 4},
        {"type": "send", "name": 1, "stream": 1, "peer": 1, "bytes": 4, "tag": 1},
        {"type": "receive", "name": 1, "stream": 1, "peer": 1, "bytes": 4},
    ]
    records.append({"type": "end", "records": len(records)})
    text = "".join(json.dumps(r) + "\n" for r in records).encode()
    yield "small.jsonl", text
    yield "small.swt", stored_zstd(text)


def stored_zstd(content):
    """A zstd frame of one uncompressed block."""
    block = struct.pack("<I", len(content) << 3 | 1)[:3]
    return b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(content)) + block + content


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def chakra():
    def number(field, value):
        return varint(field << 3) + varint(value)

    def text(field, value):
        value = value if isinstance(value, bytes) else value.encode()
        return varint(field << 3 | 2) + varint(len(value)) + value

    def attribute(name, value):
        kind = text(29, value) if isinstance(value, str) else number(9, value)
        return text(10, text(1, name) + kind)

    def node(number_, name, kind, after, start, duration, **attributes):
        message = number(1, number_) + text(2, name) + number(3, kind)
        message += text(5, b"".join(map(varint, after))) + number(6, start) + number(7, duration)
        message += text(8, text(1, '["[{\\"pg_name\\": \\"dp\\", \\"ranks\\": [0, 1]}]"]'))
        message += b"".join(attribute(k, v) for k, v in attributes.items())
        message += text(10, text(1, "half") + varint(5 << 3 | 5) + struct.pack("<f", 0.5))
        return message

    messages = [
        text(1, "0.0.4"),
        node(1, "## process_group:init ##", 1, [], 0, 0),
        node(2, "aten::mm", 4, [1], 10, 4, is_cpu_op=1, tid=3),
        node(3, "gemm", 4, [2], 20, 30, stream=7, num_ops=1000, tensor_size=64),
        node(4, "ncclAllReduce", 7, [3], 50, 9, comm_type=0, comm_size=4096, pg_name="dp"),
        node(5, "send", 5, [3], 51, 2, comm_dst=1, comm_size=8, comm_tag=1),
        node(6, "load", 2, [5], 53, 2, tensor_size=8),
        node(7, "relu", 4, [3, 4], 60, 0, tensor_size=1000),
    ]
    yield "small.et", b"".join(varint(len(m)) + m for m in messages)

    # The format in which chakra_converter wrote PyTorch's traces in 2023.
    def converted(number_, name, kind, after, parent, duration, **attributes):
        message = number(1, number_) + text(2, name) + number(3, kind) + text(4, varint(parent))
        message += text(5, b"".join(map(varint, after))) + number(7, duration)
        return message + b"".join(attribute(k, v) for k, v in attributes.items())

    nccl = "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)"
    messages = [
        text(2, text(1, "schema") + text(29, "1.0.1")),
        converted(2, "aten::mul(0)", 4, [], 3, 4, is_cpu_op=1, tid=1),
        converted(3, "mul_kernel", 4, [2], 2, 40, is_cpu_op=0, tid=7),
        converted(4, "Memcpy DtoD (Device -> Device)", 4, [2], 1, 0, is_cpu_op=0, tid=7),
        converted(5, "c10d::allreduce_(0)", 7, [2], 5, 9, is_cpu_op=1, tid=1),
        converted(6, nccl, 7, [5], 5, 90, is_cpu_op=0, tid=14, comm_type=0, comm_size=4096),
    ]
    yield "pytorch.et", b"".join(varint(len(m)) + m for m in messages)


def nccl_tests():
    head = (
        "# nThread 1 nGpus 2 minBytes 8 maxBytes 1024\n"
        "#  Rank  0 Group  0 Pid   71 on   host device  0 [0x17] NVIDIA H100\n"
        "#  Rank  1 Group  0 Pid   71 on   host device  1 [0x18] NVIDIA H100\n"
        "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
    )
    yield "sum.txt", (head + "  1024  256  float  sum  -1  20.50  51.15  51.15  0\n").encode()
    yield "gather.txt", (
        "# Collective test starting: all_gather_perf\n" + head
        + "  1024  256  half  none  -1  20.50  51.15  25.15  0\n"
    ).encode()


def execution_trace():
    yield "old.json", json.dumps({"schema": "1.0.1", "nodes": [
        {"name": "aten::mm", "id": 5, "rf_id": 1, "input_shapes": [[2, 3]], "input_types": ["Tensor(float)"]},
    ]}).encode()
    yield "new.json", json.dumps({"schema": "1.1.0-chakra.0.0.4", "nodes": [
        {"id": 5, "name": "aten::mm", "ctrl_deps": 1, "inputs": {"values": [], "shapes": [[2]], "types": ["x"]},
         "attrs": [{"name": "rf_id", "type": "uint64", "value": 2}]},
    ]}).encode()


def capture():
    def pack(form, *values):
        out = b""
        for kind, value in zip(form, values, strict=True):
            if kind == "s":
                out += struct.pack("<I", len(value)) + value.encode()
            elif kind == "3":
                out += struct.pack("<III", *value)
            else:
                out += struct.pack("<" + kind, value)
        return out

    def file(*records):
        out = b"SFCAPT01"
        for tag, form, *values in records:
            payload = pack(form, *values)
            frame = struct.pack("<IHH", len(payload), tag, 0) + payload
            out += frame + struct.pack("<I", zlib.crc32(frame))
        return out

    def session(rank, counters=0):
        return 1, "IIIIQQBss", 1, rank, 2, 70 + rank, 1000, 0, counters, "host", "train"

    def names(*texts):
        return [(2, "Is", i + 1, text) for i, text in enumerate(texts)]

    def call(start, correlation, name, driver=0):
        return 6, "QQIIIBI", start, start + 500, 9, correlation, name, driver, 0

    def kernel(start, end, stream, correlation, name):
        return (4, "QQIIIIQI333III", start, end, 0, 1, stream, correlation, 0, name,
                (16, 2, 1), (256, 1, 1), (0, 0, 0), 64, 1000, 24)

    def rank(number):
        return file(
            session(number),
            (3, "IsIIIIQQIs", 0, "NVIDIA H100", 9, 0, 132, 1 << 25, 80 * 10**9, 10**12, 10**6, "580"),
            (11, "III", 1, 7, 0),
            (12, "QsIII", 77, "world", number, 2, 1),
            *names("cudaLaunchKernel_v7000", "_Z4gemmv", "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                   "step 1", "aten::mm, seq = 3, sizes = [[64, 32], [32, 16]]", "backward"),
            (8, "QIBIII", 1500, 1, 1, 9, 4, 0),
            (8, "QIBIII", 1900, 2, 1, 9, 5, 0),
            call(2000, 1, 1),
            (7, "IIQ", 1, 2, 3),
            kernel(5000, 20000, 7, 1, 2),
            (8, "QIBIII", 3000, 2, 2, 9, 0, 0),
            (8, "QIBIII", 3100, 3, 1, 9, 6, 0),
            call(4000, 2, 1),
            (13, "QIQQssQIIIss", 4100, 9, 77, 0, "AllReduce", "ncclFloat32", 1000, 0, 4, 8, "RING", "LL"),
            kernel(21000, 60000, 20, 2, 3),
            (10, "IIIIQ", 4, 1, 7, 5, 1),
            (9, "QQIBIIIQ", 4600, 4700, 5, 2, 1, 20, 5, 1),
            call(4800, 6, 1, 1),
            (5, "QQIIIIQQBI", 61000, 62000, 0, 1, 7, 6, 0, 4096, 2, 0),
            (8, "QIBIII", 5500, 3, 2, 9, 0, 0),
            (8, "QIBIII", 70000, 1, 2, 9, 0, 0),
            (15, "Qs", 3, "records"),
            (16, "Q", 80000),
        )

    counters = file(
        session(0, 1), *names("_Z4gemmv"), (14, "I33IQQ", 1, (16, 2, 1), (256, 1, 1), 0, 8192, 4096),
        (16, "Q", 80000))
    yield "rank0.sfcapture", rank(0)
    yield "two_ranks_and_counters.sfcapture", rank(0) + rank(1) + counters


def lines(records):
    return "".join(json.dumps(r, separators=(",", ":")) + "\n" for r in records).encode()


def nccl_json():
    def place(time, **more):
        return {"time": time, "alg_bw": 51.15, "bus_bw": 51.15, "nwrong": 0.0, **more}

    def result(size, **places):
        return {"size": size, "count": size // 4, "type": "float", "redop": "sum", "root": "    -1", **places,
                "actual_iterations": 20, "experiment_name": ""}

    yield "whole.json", json.dumps({
        "version": 1, "start_time": "2026-11-26", "args": ["./build/all_reduce_perf", "-g", "2"], "env": ["A=b"],
        "nccl_version": 22903,
        "config": {
            "nthreads": 1, "ngpus": 2, "minimum_bytes": 8, "graph": 0,
            "devices": [{"rank": 0, "group": 0, "hostname": "host", "device": 0, "device_info": "NVIDIA H100"}],
        },
        "results": [
            result(1048576, out_of_place=place(20.5), in_place=place(21)),
            result(2097152, out_of_place=None, in_place=place(31.5)),
        ],
        "out_of_bounds": {"count": 0, "okay": "true"},
        "average_bus_bandwidth": {"bandwidth": 51.15, "okay": "unchecked"},
    }).encode()

    def row(size, in_place, time):
        return {"numCycle": 0, "name": "AllGather", "nodes": 1, "ranks": 4, "ranksPerNode": 4, "gpusPerRank": 1,
                "size": size, "type": "bfloat16", "redop": "none", "inPlace": in_place, "time": time,
                "algBw": 100.5, "busBw": 75.25, "wrong": "0"}

    rows = [row(1024, 0, 20.5), row(1024, 1, 20.25), row(4096, 0, 30)]
    yield "rows.json", json.dumps(rows).encode()
    yield "lines.jsonl", lines(rows)


def nccl_inspector():
    def header(communicator, rank, ranks, pid):
        return {
            "header": {"id": communicator, "rank": rank, "n_ranks": ranks, "nnodes": 1},
            "metadata": {"inspector_output_format_version": "v4.0", "hostname": "host", "pid": pid,
                         "dump_timestamp_us": 1764166000000000},
        }

    def collective(name, number, size, start=None, **more):
        perf = {"coll": name, "coll_sn": number, "coll_msg_size_bytes": size, "coll_exec_time_us": 40,
                "coll_algobw_gbs": 26.2, "coll_busbw_gbs": 26.2, **more}
        if start:
            perf["event_trace_ts"] = {
                "coll_start_ts": start - 5, "coll_stop_ts": start - 1,
                "kernel_events": [{"channel_id": c, "kernel_start_ts": start + c, "kernel_stop_ts": start + 40}
                                  for c in range(2)],
            }
        return {"coll_perf": perf}

    def transfer(name, peer, start=None):
        perf = {"p2p": name, "p2p_sn": 0, "p2p_peer": peer, "p2p_msg_size_bytes": 4096, "p2p_exec_time_us": 8,
                "p2p_timing_source": "kernel_cpu"}
        if start:
            perf["event_trace_ts"] = {"kernel_events": [{"channel_id": 0, "kernel_start_ts": start}]}
        return {"p2p_perf": perf}

    start = 1764166000000000
    yield "old.log", lines(
        {**header("0xabc", rank, 2, 70 + rank), **collective(name, 7, 1 << 20)}
        for name in ("AllReduce", "AllGather") for rank in (0, 0, 1, 1))
    new = []
    for rank in (0, 1):
        new.append({**header("0xabc", rank, 2, 70 + rank), "dump_stats": {
            "coll_records": 2, "coll_dropped_since_last_dump": 3, "p2p_dropped_since_last_dump": 0}})
        new.append(collective("AllReduce", 3, 1 << 20, start + 100 + rank, coll_algo="RING", coll_proto="LL128",
                              coll_timing_source="kernel_gpu"))
        new.append(transfer("Send" if rank == 0 else "Recv", 1 - rank, start + 200))
        new.append({"proxy_trace": {"record_type": "proxy_op"}})
        new.append({**header(f"0xde{rank}", 0, 1, 70 + rank), "dump_stats": {}})
        new.append(collective("ReduceScatter", 0, 4096, start + 50))
    yield "new.log", lines(new)


def flight_recorder():
    def entry(number, name, sizes, created, **more):
        return {
            "record_id": number, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": number,
            "p2p_seq_id": 0, "op_id": number, "profiling_name": name, "time_created_ns": 1724779239936775119 + created,
            "duration_ms": 0.125, "input_sizes": sizes, "input_dtypes": ["Float"] * len(sizes), "output_sizes": sizes,
            "output_dtypes": ["Float"] * len(sizes), "state": "completed", "time_discovered_started_ns": 0,
            "time_discovered_completed_ns": 0, "retired": True, "timeout_ms": 600000, "is_p2p": False, **more,
        }

    dump = {
        "version": "2.5", "comm_lib_version": "2.26.2",
        "pg_config": {
            "0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"},
            "1": {"name": "1", "desc": "tp", "ranks": "[0, 1]"},
        },
        "pg_status": {"0": {"last_enqueued_collective": "4"}},
        "entries": [
            entry(1, "nccl:all_reduce", [[3, 4]], 0),
            entry(2, "nccl:_all_gather_base", [[64]], 1000000, output_sizes=[[128]], process_group=["1", "tp"]),
            entry(3, "nccl:send 0->1", [[8, 8]], 2000000, is_p2p=True, p2p_seq_id=1),
            entry(3, "nccl:coalesced", [], 2100000),
            entry(4, "nccl:all_to_all", [[8], [16]], 3000000, state="scheduled"),
        ],
    }
    yield "small.json", json.dumps(dump).encode()


def rocprof():
    def record(start, end, correlation, **more):
        return {"size": 64, "kind": 0, "operation": 0, "thread_id": 9, "start_timestamp": start, "end_timestamp": end,
                "correlation_id": {"internal": correlation, "external": 0}, **more}

    def dispatch(start, end, correlation, kernel, queue):
        size = {"y": 1, "z": 1}
        return record(start, end, correlation, stream_id={"handle": queue}, dispatch_info={
            "agent_id": {"handle": 5}, "queue_id": {"handle": 1}, "kernel_id": kernel, "dispatch_id": correlation,
            "group_segment_size": 1024, "workgroup_size": {"x": 256, **size}, "grid_size": {"x": 4096, **size}})

    process = {
        "metadata": {"pid": 71, "init_time": 1, "fini_time": 2},
        "agents": [
            {"id": {"handle": 4}, "type": 1, "name": "AMD EPYC", "node_id": 0},
            {"id": {"handle": 5}, "type": 2, "name": "gfx942", "product_name": "AMD Instinct MI300X", "node_id": 1,
             "cu_count": 304, "mem_banks": [{"size_in_bytes": 206141652992}]},
        ],
        "strings": {
            "buffer_records": [
                {"kind": "HIP_RUNTIME_API", "operations": ["hipLaunchKernel", "hipMemcpyAsync"]},
                {"kind": "RCCL_API", "operations": ["ncclAllReduce"]},
                {"kind": "MARKER_RANGE_API", "operations": ["roctxThreadRangeA"]},
            ],
            "marker_api": [{"key": 8, "value": "step 1"}],
        },
        "kernel_symbols": [
            {"kernel_id": 0},
            {"kernel_id": 1, "formatted_kernel_name": "gemm(float*)", "arch_vgpr_count": 64, "accum_vgpr_count": 64},
            {"kernel_id": 2, "kernel_name": "ncclDevKernel_Generic_1.kd", "arch_vgpr_count": 96},
        ],
        "buffer_records": {
            "kernel_dispatch": [dispatch(5000, 20000, 1, 1, 0), dispatch(21000, 61000, 2, 2, 1)],
            "hip_api": [record(2000, 2500, 1), record(4000, 4500, 2), record(61500, 61600, 3, operation=1)],
            "rccl_api": [record(3900, 4600, 7, kind=1)],
            "memory_copy": [record(62000, 63000, 3, src_agent_id={"handle": 4}, dst_agent_id={"handle": 5}, bytes=4096)],
            "marker_api": [record(1500, 70000, 8, kind=2)],
        },
    }
    yield "small.json", json.dumps({"rocprofiler-sdk-tool": [process]}).encode()


def layer_table():
    yield "small.csv", (
        b"layer,type,params,fwd_macs_per_sample,out_elems_per_sample\r\n"
        b"conv1,conv,9408,118013952,802816\nfc,linear,2049000,2048000,1000\n"
    )
    yield "graph.csv", (
        b"idx,layer,type,params,fwd_macs_per_sample,out_elems_per_sample,inputs,in_elems_per_sample,out_shape,shares,"
        b"split,block,groups,heads,forward_us,backward_us\n"
        b"0,words,embedding,640,0,32,@input,8,8x4,,vocabulary,,,,,\n"
        b"1,attend,attention,0,256,32,words;words;words,96,8x4,,heads,0,,2,1.5,3e0\n"
        b"2,sum,add,0,0,32,words;attend,64,8x4,,none,0,,,,\n"
        b"3,head,linear,0,5120,1280,sum,32,8x160,words,vocabulary,,1,,,\n"
    )


def profile_graph():
    yield "small.graph.txt", (
        b"node1 -- Input0 -- forward_compute_time=3.0, backward_compute_time=0.0, activation_size=128.0, parameter_size=0.0\n"
        b"node3 -- LSTM(8, 4) -- forward_compute_time=1.5, backward_compute_time=2.25, "
        b"activation_size=[64.0; 32.0], parameter_size=256.000\n"
        b"node2 -- Embedding(32, 8) -- forward_compute_time=0.1, backward_compute_time=0.2, activation_size=256.0, "
        b"parameter_size=1024.000\n"
        b"\tnode1 -- node2\n\tnode2 -- node3\n"
    )


def kernel_table():
    yield "products.csv", (
        b"gpu,dtype,m,n,k,time_us,source\r\n"
        b"NVIDIA H100,bfloat16,64,128,256,3.5,x\nNVIDIA H100,fp8,4096,4096,4096,101.25,x\n"
    )
    yield "attention.csv", (
        b"dtype,batch,sequence,heads,kv_heads,head_dim,time_us\n"
        b"float16,2,1024,16,4,128,42\n"
    )


def recognised():
    """What tells a format is all that counts. The fuzzer begins with every other reader's files, too."""
    yield "kineto.json", b'{"schemaVersion": 1, "traceEvents": [{"ph": "X", "args": {"pg_status": 1}}]}'
    yield "inspector.log", b'\n[1,0]<stdout>:#                                                       out-of-place                       in-place\n'
    yield "recorder.json", b'{"version": "2.3", "nccl_comm_state": {}, "pg_config": {}, "entries": []}'


def nsight(folder):
    path = folder / "small.sqlite"
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    database.executescript("""
        PRAGMA page_size = 512;
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'), (3, 'cudaLaunchKernel_v7000');
        CREATE TABLE TARGET_INFO_GPU (id, name, totalMemory, smCount);
        INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100', 84930330624, 132);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, globalPid, demangledName,
            gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
            (20000, 30000, 0, 7, 1, 16777216, 1, 64, 2, 1, 256, 1, 1, 40, 1024, 0),
            (31000, 90000, 0, 20, 2, 16777216, 2, 8, 1, 1, 512, 1, 1, 96, 0, 0);
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, correlationId, globalPid, bytes, copyKind);
        INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (95000, 96000, 0, 7, 3, 16777216, 4096, 1);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10000, 11000, 16777217, 1, 3), (12000, 13000, 16777217, 2, 3);
        CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid, textId, uint64Value);
        INSERT INTO NVTX_EVENTS VALUES (9000, 15000, 59, 'backward', 16777217, NULL, NULL),
            (11900, 13500, 59, 'ncclAllReduce', 16777217, NULL, 4096);
    """)
    database.commit()
    database.close()
    (folder / "small.sqlite.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))

    # Like a cut export of 2026: two processes with a GPU each, no GPU names, no payloads, and one
    # kernel that starts before its predecessor in the stream ends.
    path = folder / "cut.sqlite"
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    database.executescript("""
        PRAGMA page_size = 512;
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'ncclDevKernel_SendRecv'), (3, 'cudaLaunchKernel_v7000');
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, globalPid, demangledName,
            gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
            (5000, 6000, 0, 7, 9, 16777216, 1, 64, 2, 1, 256, 1, 1, 40, 1024, 0),
            (20000, 40000, 0, 7, 1, 16777216, 1, 64, 2, 1, 256, 1, 1, 40, 1024, 0),
            (31000, 90000, 0, 7, 2, 16777216, 2, 8, 1, 1, 512, 1, 1, 96, 0, 0),
            (21000, 91000, 1, 15, 1, 33554432, 2, 8, 1, 1, 512, 1, 1, 96, 0, 0);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10000, 11000, 16777217, 1, 3), (12000, 13000, 16777217, 2, 3),
            (10500, 11000, 33554433, 1, 3);
        CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid, textId, uint64Value, jsonText, jsonTextId, binaryData);
        INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES
            (9000, 13500, 59, 'aten::copy_, op_id = 1', 16777217), (11800, 13500, 59, 'ncclGroupStart', 16777217),
            (11900, 12000, 59, 'ncclSend', 16777217), (12000, 12100, 59, 'ncclRecv', 16777217),
            (12200, 13400, 59, 'ncclGroupEnd', 16777217), (10400, 11100, 59, 'ncclSend', 33554433);
    """)
    database.commit()
    database.close()


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "corpus")
    readers = {
        "kineto": kineto, "own": own, "chakra": chakra, "nccl_tests": nccl_tests,
        "nccl_json": nccl_json, "nccl_inspector": nccl_inspector, "flight_recorder": flight_recorder, "rocprof": rocprof,
        "execution_trace": execution_trace, "capture": capture, "layer_table": layer_table,
        "profile_graph": profile_graph, "kernel_table": kernel_table, "recognised": recognised,
    }
    for reader, make in readers.items():
        (root / reader).mkdir(parents=True, exist_ok=True)
        for name, content in make():
            (root / reader / name).write_bytes(content)
    (root / "nsight").mkdir(parents=True, exist_ok=True)
    nsight(root / "nsight")


if __name__ == "__main__":
    main()
