// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/trace_format/records.h"

namespace switchfold::trace_format {

struct KernelRecord : OperationFields {
    static constexpr std::string_view kType = "kernel";
    std::vector<std::uint32_t> grid;
    std::vector<std::uint32_t> block;
    std::uint32_t registers_per_thread = 0;
    std::uint64_t shared_memory_bytes = 0;
    std::optional<std::uint64_t> isolated_ps;
    Word<DurationSource> isolated_from;
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_written = 0;
    Word<ByteSource> bytes_from{ByteSource::kClassDefault};
    double flops = 0;
    Word<KernelClass> kernel_class{KernelClass::kOther};
    bool inside_cuda_graph = false;
    std::optional<double> l2_share;
    std::vector<std::uint32_t> product;
    std::vector<std::uint32_t> attention;
    Word<Datatype> datatype;
    bool tf32 = false;
    bool causal = false;
    bool backward = false;
    bool newest = false;
    static constexpr auto fields() {
        using R = KernelRecord;
        return joined(
            OperationFields::common(),
            list_of(
                field("grid", &R::grid, "Blocks in x, y, z; what is left out is 1."),
                field("block", &R::block, "Threads in x, y, z; what is left out is 1."),
                field("registers_per_thread", &R::registers_per_thread, "0 if unknown."),
                field("shared_memory_bytes", &R::shared_memory_bytes, "Of one block."),
                field(
                    "isolated_ps", &R::isolated_ps,
                    "How long it takes alone on the GPU; without it, duration_ps."),
                field("isolated_from", &R::isolated_from, "Where isolated_ps comes from."),
                field("bytes_read", &R::bytes_read, "From L2 and beyond, whole kernel."),
                field("bytes_written", &R::bytes_written, "The same."),
                field("bytes_from", &R::bytes_from, "Where the bytes come from."),
                field("flops", &R::flops, "Floating-point operations."),
                field("class", &R::kernel_class, "What it does."),
                field(
                    "inside_cuda_graph", &R::inside_cuda_graph,
                    "Whether it is of a CUDA graph, and not its last."),
                field(
                    "l2_share", &R::l2_share,
                    "Share of its bytes that it finds in the L2, alone on the GPU; without it, "
                    "unknown.",
                    0.0, 1.0),
                field(
                    "product", &R::product,
                    "m, n, k and count of the matrix products that it or its operator computes."),
                field(
                    "attention", &R::attention,
                    "Batch, queries, keys, heads, heads of keys and values, and head width of the "
                    "attention that it or its operator computes."),
                field("datatype", &R::datatype, "Of the operands of product or attention."),
                field("tf32", &R::tf32, "Whether a product rounds its operands of 32 bits."),
                field("causal", &R::causal, "Whether attention is masked."),
                field("backward", &R::backward, "Whether it makes attention's gradients."),
                field(
                    "newest", &R::newest,
                    "Whether attention's kernel was written for its GPU's own generation.")));
    }
};

struct CollectiveRecord : OperationFields {
    static constexpr std::string_view kType = "collective";
    Word<CollectiveKind> kind;
    std::uint64_t bytes = 0;
    Word<Datatype> datatype;
    std::uint32_t group = 0;
    std::uint64_t sequence = 0;
    Word<SizeSource> bytes_from;
    std::uint32_t thread_blocks = 0;
    std::uint32_t threads_per_block = 0;
    std::uint32_t registers_per_thread = 0;
    std::uint64_t shared_memory_bytes = 0;
    std::string algorithm;
    std::string protocol;
    std::uint64_t peers_late_ps = 0;
    std::optional<std::uint32_t> exchange;
    std::uint64_t given_ps = 0;
    bool holds_blocks = false;
    static constexpr auto fields() {
        using R = CollectiveRecord;
        return joined(
            OperationFields::common(),
            list_of(
                field("kind", &R::kind, "Which collective.").required(),
                field("bytes", &R::bytes, "Payload of one rank as nccl-tests counts it."),
                field("datatype", &R::datatype, "Of its elements."),
                field("group", &R::group, "Number of its group.").required(),
                field("sequence", &R::sequence, "Number in its group on this rank.").required(),
                field("bytes_from", &R::bytes_from, "Where the size comes from."),
                field("thread_blocks", &R::thread_blocks, "Of its kernel; 0 if unknown."),
                field("threads_per_block", &R::threads_per_block, "0 if unknown."),
                field("registers_per_thread", &R::registers_per_thread, "0 if unknown."),
                field("shared_memory_bytes", &R::shared_memory_bytes, "Of one block."),
                field("algorithm", &R::algorithm, "ring, tree, nvls, ...; empty if unknown."),
                field("protocol", &R::protocol, "ll, ll128, simple; empty if unknown."),
                field(
                    "peers_late_ps", &R::peers_late_ps,
                    "How much later than this rank the last one came that was not traced; 0: as "
                    "duration_ps shows it."),
                field(
                    "exchange", &R::exchange,
                    "Number of the exchange that an all-to-all of unequal parts makes; bytes is "
                    "what this rank sends."),
                field(
                    "given_ps", &R::given_ps,
                    "How long it takes in every simulation, without traffic; 0: simulated."),
                field(
                    "holds_blocks", &R::holds_blocks,
                    "With given_ps: thread blocks hold their SMs until all ranks are there, and "
                    "for "
                    "that time.")));
    }
};

struct TransferFields : OperationFields {
    std::uint32_t peer = 0;
    std::uint64_t bytes = 0;
    std::uint64_t tag = 0;
    static constexpr auto fields() {
        using R = TransferFields;
        return joined(
            OperationFields::common(),
            list_of(
                field("peer", &R::peer, "Global rank.").required(),
                field("bytes", &R::bytes, "Of the message.").required(),
                field("tag", &R::tag, "The k-th send of a tag belongs to its k-th receive.")));
    }
};
struct SendRecord : TransferFields {
    static constexpr std::string_view kType = "send";
};
struct ReceiveRecord : TransferFields {
    static constexpr std::string_view kType = "receive";
};

struct CopyRecord : OperationFields {
    static constexpr std::string_view kType = "copy";
    Word<CopyKind> kind;
    std::uint64_t bytes = 0;
    static constexpr auto fields() {
        using R = CopyRecord;
        return joined(
            OperationFields::common(),
            list_of(
                field("kind", &R::kind, "From where to where.").required(),
                field("bytes", &R::bytes, "How much.")));
    }
};

/// Time that a host thread spends: duration_ps.
struct HostRecord : OperationFields {
    static constexpr std::string_view kType = "host";
    bool shared = false;
    static constexpr auto fields() {
        return joined(
            OperationFields::common(),
            list_of(field(
                "shared", &HostRecord::shared, "By a thread that serves all ranks in turn.")));
    }
};

/// The last record: a file without it is truncated.
struct EndRecord {
    static constexpr std::string_view kType = "end";
    std::uint64_t records = 0;
    static constexpr auto fields() {
        return list_of(field("records", &EndRecord::records, "Lines before this one.").required());
    }
};

using Record = std::variant<
    TraceRecord, NameRecord, GroupRecord, ExchangeRecord, RankRecord, StreamRecord, KernelRecord,
    CollectiveRecord, SendRecord, ReceiveRecord, CopyRecord, HostRecord, EndRecord>;

}  // namespace switchfold::trace_format
