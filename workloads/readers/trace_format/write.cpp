// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "workloads/graph/schedule.h"
#include "workloads/readers/trace_format/output_file.h"
#include "workloads/readers/trace_format/record_writer.h"
#include "workloads/readers/trace_format/trace_file.h"

namespace switchfold {

namespace tf = trace_format;

namespace {

std::vector<std::uint32_t> sizes_of(const Dim3& dims) {
    if (dims == Dim3{})
        return {};
    return {dims.x, dims.y, dims.z};
}

void write_shape(const KernelShape& shape, tf::KernelRecord& record) {
    const auto sides = [&](std::size_t count) {
        return std::vector<std::uint32_t>(shape.sides.begin(), shape.sides.begin() + count);
    };
    if (shape.kind == ShapeKind::kProduct)
        record.product = sides(kSidesOfProduct);
    else if (shape.kind == ShapeKind::kAttention)
        record.attention = sides(kSidesOfAttention);
    record.datatype = {shape.datatype};
    record.tf32 = shape.tf32;
    record.causal = shape.causal;
    record.backward = shape.backward;
    record.newest = shape.newest;
}

tf::KernelRecord record_of(const KernelOperation& kernel) {
    tf::KernelRecord record;
    record.grid = sizes_of(kernel.grid);
    record.block = sizes_of(kernel.block);
    record.registers_per_thread = kernel.registers_per_thread;
    record.shared_memory_bytes = kernel.shared_memory.count();
    if (kernel.isolated != kernel.measured)
        record.isolated_ps = kernel.isolated.count();
    record.isolated_from = {kernel.duration_source};
    record.bytes_read = kernel.bytes_read.count();
    record.bytes_written = kernel.bytes_written.count();
    record.bytes_from = {kernel.byte_source};
    record.flops = kernel.flops;
    record.kernel_class = {kernel.kernel_class};
    record.inside_cuda_graph = kernel.inside_cuda_graph;
    if (kernel.l2_share >= 0)
        record.l2_share = kernel.l2_share;
    write_shape(kernel.shape, record);
    return record;
}

tf::CollectiveRecord record_of(const CollectiveOperation& collective) {
    tf::CollectiveRecord record;
    record.kind = {collective.kind};
    record.bytes = collective.bytes.count();
    record.datatype = {collective.datatype};
    record.group = collective.group;
    record.sequence = collective.sequence;
    record.bytes_from = {collective.size_source};
    record.thread_blocks = collective.thread_blocks;
    record.threads_per_block = collective.threads_per_block;
    record.registers_per_thread = collective.registers_per_thread;
    record.shared_memory_bytes = collective.shared_memory.count();
    record.algorithm = collective.algorithm.text();
    record.protocol = collective.protocol.text();
    record.peers_late_ps = collective.peers_late.count();
    if (collective.exchange != 0)
        record.exchange = collective.exchange - 1;
    record.given_ps = collective.given.count();
    record.holds_blocks = collective.holds_blocks;
    return record;
}

template <class Record, class Transfer>
Record transfer_record(const Transfer& transfer) {
    Record record;
    record.peer = transfer.peer;
    record.bytes = transfer.bytes.count();
    record.tag = transfer.tag;
    return record;
}
tf::SendRecord record_of(const SendOperation& send) {
    return transfer_record<tf::SendRecord>(send);
}
tf::ReceiveRecord record_of(const ReceiveOperation& receive) {
    return transfer_record<tf::ReceiveRecord>(receive);
}

tf::CopyRecord record_of(const CopyOperation& copy) {
    tf::CopyRecord record;
    record.kind = {copy.kind};
    record.bytes = copy.bytes.count();
    return record;
}

tf::HostRecord record_of(const HostDelayOperation& delay) {
    tf::HostRecord record;
    record.shared = delay.shared;
    return record;
}

class TraceWriter {
public:
    TraceWriter(const TraceWorkload& workload, const std::filesystem::path& path) :
        workload_(workload), file_(path, path.extension() == ".jsonl") {}

    void run(std::string_view written_by) {
        const ExecutionGraph& graph = workload_.graph;
        write(header(written_by));
        for (const std::string& name : graph.names)
            write(tf::NameRecord{name});
        for (const Group& group : graph.groups)
            write(tf::GroupRecord{group.name, group.ranks});
        for (const UnevenExchange& exchange : graph.exchanges)
            write(tf::ExchangeRecord{exchange.ranks, exchange.bytes});
        for (std::size_t i = 0; i < graph.ranks.size(); ++i)
            write_rank(i);
        write(tf::EndRecord{records_});
        file_.finish();
    }

private:
    [[nodiscard]] tf::TraceRecord header(std::string_view written_by) const {
        const Provenance& provenance = workload_.graph.provenance;
        tf::TraceRecord record;
        record.version = tf::kVersion;
        record.written_by = written_by;
        record.source = provenance.source;
        record.gpu = provenance.gpu_name;
        record.synthetic = provenance.synthetic;
        record.traced_ranks = provenance.traced_ranks;
        record.world_size = provenance.world_size;
        record.steps = workload_.graph.steps;
        record.measured_iteration_ps = provenance.measured_iteration.count();
        return record;
    }

    void write_rank(std::size_t index) {
        const TraceFileReport& report = workload_.files.at(index);
        tf::RankRecord record;
        record.rank = report.rank;
        record.world_size = report.world_size;
        record.steps = report.steps;
        record.file = report.file;
        record.format = report.format;
        record.gpu = report.gpu_name;
        record.memory_bytes = report.memory_bytes;
        record.peak_allocated_bytes = report.peak_allocated;
        record.peak_reserved_bytes = report.peak_reserved;
        record.sms = report.sms;
        record.synthetic = report.synthetic;
        record.launches = report.host.launches;
        record.between_launches_ps = report.host.between.count();
        record.collective_calls = report.host.calls;
        record.until_call_ps = report.host.until_call.count();
        record.events = report.events;
        record.used = report.used;
        record.dropped = report.dropped;
        record.mended = report.mended;
        record.steps_from = report.steps_from;
        record.warnings = report.warnings;
        write(record);
        const RankGraph& rank = *workload_.graph.ranks[index];
        for (const Stream& stream : rank.streams)
            write(tf::StreamRecord{{stream.kind}, stream.name, stream.priority});
        for (std::uint32_t i = 0; i < rank.operations.size(); ++i) {
            rank.operations.forget_at(i);
            if (index < workload_.measured.size())
                workload_.measured[index].forget_at(i);
            write_operation(index, i);
        }
    }

    void write_operation(std::size_t rank, std::uint32_t index) {
        const Operation& operation = workload_.graph.ranks[rank]->operations[index];
        std::visit(
            [&](const auto& body) {
                auto record = record_of(body);
                record.name = operation.name;
                record.stream = operation.stream;
                record.step = operation.step;
                record.phase = {operation.phase};
                record.gap_ps = operation.gap.count();
                for (const std::uint32_t dependency : operation.dependencies)
                    record.after.push_back(index - dependency);
                if (rank < workload_.measured.size() && index < workload_.measured[rank].size())
                    record.start_ps = workload_.measured[rank][index].start.count();
                record.duration_ps = measured_duration(operation).count();
                write(record);
            },
            operation.body);
    }

    template <class R>
    void write(const R& record) {
        text_.clear();
        tf::write_record(text_, record);
        file_.write({text_.data(), text_.size()});
        ++records_;
    }

    const TraceWorkload& workload_;
    tf::OutputFile file_;
    fmt::memory_buffer text_;
    std::uint64_t records_ = 0;
};

}  // namespace

void write_trace(
    const TraceWorkload& workload, const std::filesystem::path& path, std::string_view written_by) {
    SWITCHFOLD_CHECK(
        workload.files.size() == workload.graph.ranks.size(), "a rank without a report");
    TraceWriter(workload, path).run(written_by);
}

}  // namespace switchfold
