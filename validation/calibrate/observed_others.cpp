// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/kernel_model.h"
#include "validation/calibrate/observed.h"
#include "validation/harness/csv_numbers.h"
#include "validation/kernels/kernel_gpus.h"
#include "validation/kernels/timed_kernels.h"
#include "validation/machines/bounds.h"
#include "validation/machines/machine_words.h"
#include "workloads/readers/read_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace switchfold::validation {

namespace {

void set_type(MatrixProduct& product, Datatype type) {
    product.datatype = type;
}
void set_type(Attention& attention, Datatype type) {
    attention.datatype = type;
}

class KernelRows {
public:
    KernelRows(const std::filesystem::path& file, const SystemParams& system, Observations& out) :
        file_(file),
        out_(out),
        rates_(gpu_rates(*system.gpu)),
        memory_bandwidth_(static_cast<double>(system.gpu->memory.hbm.peak.count())),
        model_(machine_words(system.gpu->name).gpu),
        merger_(out.points) {}

    template <class Shape>
    void add(const MeasuredKernel& row, const char* kind, Shape shape) {
        const std::string id =
            fmt::format("{}: line {}: {}", file_.filename().string(), row.line, row.gpu);
        const auto refuse = [&](std::string why) { out_.left_out.push_back({id, std::move(why)}); };
        if (!row.datatype)
            return refuse(fmt::format("the datatype \"{}\" is not modelled", row.dtype));
        // Rows of other GPUs in a table of many say nothing about this one.
        if (!row.gpu.empty() && machine_words(row.gpu).gpu != model_) {
            others_.insert(row.gpu);
            return;
        }
        set_type(shape, *row.datatype);
        if (std::string why = why_impossible(shape, rates_, memory_bandwidth_, row.seconds);
            !why.empty())
            return refuse(std::move(why));
        CalibrationPoint point;
        point.group = fmt::format("{} in {}", kind, row.dtype);
        point.size = operations_of(shape);
        point.measured_us = row.seconds * 1e6;
        point.measured = 1;
        point.what = KernelPoint{shape};
        ++out_.rows;
        merger_.add(fmt::format("{} {} {}", kind, row.dtype, size_of_row(shape)), std::move(point));
    }

    void end() {
        for (const std::string& gpu : others_)
            out_.notes.push_back(
                fmt::format("{}: rows of {} are of another GPU", file_.string(), gpu));
    }

private:
    const std::filesystem::path& file_;
    Observations& out_;
    GpuRates rates_;
    double memory_bandwidth_;  ///< B/s
    std::string model_;
    PointMerger merger_;
    std::set<std::string> others_;
};

constexpr std::uint64_t kLeastCopy = 1ULL << 20U;  ///< smaller copies are latency

CalibrationPoint copy_point(bool to_device, Bytes bytes, double us) {
    CalibrationPoint point;
    point.group = to_device ? "copies from the host" : "copies to the host";
    point.size = static_cast<double>(bytes.count());
    point.measured_us = us;
    point.measured = 1;
    point.what = CopyPoint{to_device, bytes};
    return point;
}

/// Kernels and copies of traces.
class TracedOperations {
public:
    TracedOperations(const ExecutionGraph& graph, Observations& out) :
        graph_(graph), out_(out), merger_(out.points) {}

    void add(const Operation& operation) {
        if (const auto* const kernel = std::get_if<KernelOperation>(&operation.body))
            add(*kernel);
        else if (const auto* const copy = std::get_if<CopyOperation>(&operation.body))
            add(*copy, graph_.names[operation.name]);
        else if (std::holds_alternative<CollectiveOperation>(operation.body))
            ++collectives_;
    }
    [[nodiscard]] std::size_t collectives() const { return collectives_; }
    [[nodiscard]] std::size_t wide_products() const { return wide_products_; }

private:
    void add(const KernelOperation& kernel) {
        if (kernel.shape.kind != ShapeKind::kProduct || kernel.isolated == Time(0) ||
            kernel.duration_source == DurationSource::kMeasuredOverlapped ||
            !is_measured(kernel.duration_source))
            return;
        // A trace does not say whether products in 32 bits were rounded to TF32.
        if (size_of(kernel.shape.datatype) >= Bytes(4)) {
            ++wide_products_;
            return;
        }
        MatrixProduct product;
        product.m = kernel.shape.sides[0];
        product.n = kernel.shape.sides[1];
        product.k = kernel.shape.sides[2];
        product.count = kernel.shape.sides[3];
        product.datatype = kernel.shape.datatype;
        product.tf32 = kernel.shape.tf32;
        CalibrationPoint point;
        point.group = fmt::format("traced products in {}", to_string(product.datatype));
        point.size = operations_of(product);
        point.measured_us = to_microseconds(kernel.isolated);
        point.measured = 1;
        point.what = TracedPoint{product};
        ++out_.rows;
        merger_.add(
            fmt::format(
                "traced {} x{} {} {}", size_of_row(product), product.count,
                to_string(product.datatype), product.tf32),
            std::move(point));
    }

    void add(const CopyOperation& copy, const std::string& name) {
        const bool to_device = copy.kind == CopyKind::kHostToDevice;
        if ((!to_device && copy.kind != CopyKind::kDeviceToHost) || copy.isolated == Time(0) ||
            copy.bytes < Bytes(kLeastCopy))
            return;
        // A host's thread copies pageable memory in pieces: not what the link carries.
        if (name.find("Pageable") != std::string::npos)
            return;
        ++out_.rows;
        merger_.add(
            fmt::format("copy {} {}", to_device, copy.bytes.count()),
            copy_point(to_device, copy.bytes, to_microseconds(copy.isolated)));
    }

    const ExecutionGraph& graph_;
    Observations& out_;
    PointMerger merger_;
    std::size_t collectives_ = 0;
    std::size_t wide_products_ = 0;
};

}  // namespace

void PointMerger::add(const std::string& key, CalibrationPoint point) {
    const auto [at, fresh] = places_.try_emplace(key, points_.size());
    auto& [quickest, slowest] =
        extremes_.try_emplace(key, point.measured_us, point.measured_us).first->second;
    quickest = std::min(quickest, point.measured_us);
    slowest = std::max(slowest, point.measured_us);
    if (fresh) {
        points_.push_back(std::move(point));
        return;
    }
    CalibrationPoint& known = points_[at->second];
    const auto count = static_cast<double>(known.measured);
    known.measured_us =
        std::exp((std::log(known.measured_us) * count + std::log(point.measured_us)) / (count + 1));
    ++known.measured;
    known.spread = slowest / quickest;
}

void observe_kernels(
    const std::filesystem::path& table, const SystemParams& system, Observations& out) {
    if (std::string why = why_no_kernel_times(*system.gpu); !why.empty())
        throw ConfigError(
            table.string(), "", fmt::format("holds kernels, and {}; expected another system", why));
    KernelRows rows(table, system, out);
    const KernelTable read = read_kernel_table(table);
    for (const MeasuredProduct& row : read.products)
        rows.add(row, "products", row.product);
    for (const MeasuredAttention& row : read.attentions)
        rows.add(row, "attention", row.attention);
    rows.end();
}

void observe_copies(const std::filesystem::path& table, Observations& out) {
    const CsvTable read = read_csv(table);
    CsvNumbers numbers(table.string(), &out.left_out);
    PointMerger merger(out.points);
    for (const CsvRecord& record : read.records) {
        const std::string& kind = record["copy"];
        if (kind != "host_to_device" && kind != "device_to_host")
            numbers.fail(record, "copy", "host_to_device or device_to_host");
        const auto bytes = numbers.needed<std::uint64_t>(
            record, "size_bytes", 1, "a whole number of bytes from 1");
        const auto us = numbers.needed<double>(record, "time_us", 1e-3, "a number above 0");
        if (!numbers.end_row(record))
            continue;
        if (*bytes < kLeastCopy) {
            out.left_out.push_back(
                {fmt::format("{}: line {}", table.filename().string(), record.line),
                 "copies below 1 MiB take what the host's call takes"});
            continue;
        }
        ++out.rows;
        merger.add(
            fmt::format("{} {}", kind, *bytes),
            copy_point(kind == "host_to_device", Bytes(*bytes), *us));
    }
    numbers.throw_if_failed();
}

void observe_traces(
    const std::vector<std::filesystem::path>& traces, const SystemParams& system,
    Observations& out) {
    if (traces.empty())
        return;
    ReadOptions options;
    options.files = traces;
    const TraceWorkload workload = read_traces(options);
    const std::string traced = machine_words(workload.graph.provenance.gpu_name).gpu;
    const std::string own = machine_words(system.gpu->name).gpu;
    if (!traced.empty() && traced != own)
        throw ConfigError(
            traces.front().string(), "",
            fmt::format(
                "was recorded on {}; expected a trace of {}", workload.graph.provenance.gpu_name,
                system.gpu->name));
    TracedOperations operations(workload.graph, out);
    for (const auto& rank : workload.graph.ranks)
        if (rank)
            for (const Operation& operation : rank->operations)
                operations.add(operation);
    if (operations.wide_products() > 0)
        out.notes.push_back(fmt::format(
            "{} products in 32 bits of the traces are not used: traces do not say whether they "
            "were "
            "rounded to TF32",
            operations.wide_products()));
    if (operations.collectives() > 0)
        out.notes.push_back(fmt::format(
            "{} collectives of the traces are not used: their times include waiting for other "
            "ranks and kernels beside them; logs of nccl-tests say what they take alone",
            operations.collectives()));
}

}  // namespace switchfold::validation
