// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/block_draw.h"
#include "models/gpu/sm_array.h"
#include "sim/kinds/gpu_scenarios.h"
#include "sim/kinds/graph_kind.h"
#include "sim/kinds/kernel_beside/kernel_beside_params.h"
#include "sim/kinds/kernel_beside/loop_counts.h"
#include "sim/kinds/workload_builder.h"
#include "sim/output/result_tables.h"
#include "sim/workload/buffer_check.h"
#include "sim/workload/kernel_model.h"
#include "workloads/graph/loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace switchfold {

namespace {

constexpr const char* kKernelPointer = "/workload/kernel";
constexpr const char* kTimePointer = "/workload/kernel/time";

KernelOperation
looped_kernel(const MatrixProductParams& p, const GpuParams& gpu, const WorkloadContext& context) {
    if (const std::string why = why_no_kernel_times(gpu); !why.empty())
        context.fail(
            kKernelPointer,
            fmt::format(
                "is a product, whose launch follows from the GPU's rates, and {}; expected a "
                "launch with its time",
                why));
    MatrixProduct product;
    product.m = p.m;
    product.n = p.n;
    product.k = p.k;
    product.datatype = p.datatype;
    // The product before it in the loop had the same factors.
    product.since_left = product.since_right = 0;
    KernelOperation kernel = kernel_times(gpu, "", "").estimate(product).kernel;
    if (p.time) {
        kernel.isolated = *p.time;
        find_in_l2(kernel, gpu_rates(gpu));
    }
    return kernel;
}

/// Time of a kernel of which only as many bytes are on their way as its resident blocks load.
Time time_in_flight(const KernelOperation& kernel, const GpuParams& gpu) {
    const BlockShape block{
        static_cast<std::uint32_t>(kernel.block.count()), kernel.registers_per_thread,
        kernel.shared_memory};
    const double slots = static_cast<double>(SmArray(gpu.sm, gpu.sms).limit(block)) * gpu.sms;
    const double resident = std::min(slots, static_cast<double>(kernel.grid.count()));
    const double draw =
        resident * draw_of_block(block, kernel.bytes_read, kernel.bytes_written, gpu);
    const auto bytes = static_cast<double>((kernel.bytes_read + kernel.bytes_written).count());
    return draw > 0 ? kernel_duration(bytes / draw) + gpu.arithmetic.launch : Time();
}

KernelOperation
looped_kernel(const LaunchedKernelParams& p, const GpuParams& gpu, const WorkloadContext& context) {
    KernelOperation kernel;
    kernel.grid = dimensions(p.grid);
    kernel.block = dimensions(p.block);
    kernel.registers_per_thread = p.registers_per_thread;
    kernel.shared_memory = p.shared_memory;
    kernel.bytes_read = p.bytes_read;
    kernel.bytes_written = p.bytes_written;
    kernel.flops = p.flops;
    kernel.byte_source = ByteSource::kShapes;
    if (p.time) {
        kernel.isolated = *p.time;
        return kernel;
    }
    if (const std::string why = why_no_kernel_times(gpu); !why.empty())
        context.fail(kTimePointer, fmt::format("is not given, and {}; expected the time", why));
    MemoryKernel moved;
    moved.read = static_cast<double>(p.bytes_read.count());
    moved.written = static_cast<double>(p.bytes_written.count());
    moved.flops = p.flops;
    const KernelOperation modelled = kernel_times(gpu, "", "").estimate(moved).kernel;
    kernel.isolated = std::max(modelled.isolated, time_in_flight(kernel, gpu));
    kernel.l2_share = modelled.l2_share;
    kernel.duration_source = DurationSource::kModel;
    return kernel;
}

/// The kernel on one kind of GPU. Fails if not even one block fits an SM.
template <class Params>
KernelOperation
fitting_kernel(const Params& params, const GpuParams& gpu, const WorkloadContext& context) {
    try {
        const KernelOperation kernel = looped_kernel(params, gpu, context);
        if (kernel.isolated > kLongestKernel)
            context.fail(
                kKernelPointer, fmt::format(
                                    "takes {:.1f} s on {}; expected at most a second",
                                    to_seconds(kernel.isolated), gpu.name));
        const BlockShape shape{
            static_cast<std::uint32_t>(kernel.block.count()), kernel.registers_per_thread,
            kernel.shared_memory};
        if (SmArray(gpu.sm, gpu.sms).limit(shape) == 0)
            context.fail(
                kKernelPointer,
                fmt::format(
                    "has blocks of {} threads with {} registers and {} of shared memory, which no "
                    "SM of {} holds; expected less",
                    shape.threads, shape.registers_per_thread, to_string(shape.shared_memory),
                    gpu.name));
        return kernel;
    } catch (const std::invalid_argument& error) {
        context.fail(kKernelPointer, error.what());
    }
}

/// Bytes of a kernel's operands: of a launch only its traffic is known.
std::uint64_t operands_of(const MatrixProductParams& p) {
    const std::uint64_t elements =
        std::uint64_t{p.m} * p.k + std::uint64_t{p.k} * p.n + std::uint64_t{p.m} * p.n;
    return elements * size_of(p.datatype).count();
}
std::uint64_t operands_of(const LaunchedKernelParams& /*p*/) {
    return 0;
}

std::string kernel_name_of(const MatrixProductParams& p) {
    return fmt::format("{} product {} x {} x {}", enum_name(p.datatype), p.m, p.n, p.k);
}
std::string kernel_name_of(const LaunchedKernelParams& p) {
    return fmt::format(
        "kernel of {} blocks of {} threads", dimensions(p.grid).count(),
        dimensions(p.block).count());
}

class LoopsBuilder final : public WorkloadBuilder {
public:
    LoopsBuilder(
        const KernelBesideCollectiveParams& w, const WorkloadContext& context,
        PreparedWorkload& out) :
        WorkloadBuilder(context, out), w_(w) {}

    void plan() override {
        ranks_ = context().ranks_of(w_.ranks);
        if (ranks_ < 2)
            context().fail(
                "/workload/ranks", "is 1, and nothing is communicated; expected at least 2");
        if (w_.size.count() % size_of(w_.datatype).count() != 0)
            context().fail(
                "/workload/size",
                "is not a whole number of elements; expected a multiple of the element's size");
        if ((w_.kernels == 0 || w_.collectives == 0) && !context().experiment().ranks.empty())
            context().fail(
                w_.kernels == 0 ? "/workload/kernels" : "/workload/collectives",
                "is 0, which is found with ranks that are alike, and the experiment slows some; "
                "expected how many");
    }
    void tasks() override {
        const RankGpus gpus = context().rank_gpus();
        std::vector<KernelOperation> kernels(gpus.kinds().size());
        const std::set<std::uint32_t> kinds = gpus.used(ranks_);
        for (const std::uint32_t kind : kinds)
            kernels[kind] = std::visit(
                [&](const auto& params) {
                    return fitting_kernel(params, *gpus.kinds()[kind], context());
                },
                w_.kernel);
        out().unequal = kinds.size() > 1;
        Loops& loops = out().loops.emplace();
        for (std::uint32_t rank = 0; rank < ranks_; ++rank)
            loops.kernel.push_back(kernels[gpus.kind(rank)]);
        loops.collective.kind = w_.collective;
        loops.collective.bytes = w_.size;
        loops.collective.datatype = w_.datatype;
        loops.collective.size_source = SizeSource::kUser;
        loops.kernel_name =
            std::visit([](const auto& params) { return kernel_name_of(params); }, w_.kernel);
        loops.collective_name = fmt::format("{} {}", to_string(w_.collective), to_string(w_.size));
        loops.kernels = w_.kernels;
        loops.collectives = w_.collectives;
    }
    /// Counts that are to be found are 1 in it.
    void graph() override {
        Loops once = *out().loops;
        once.kernels = std::max(1U, w_.kernels);
        once.collectives = std::max(1U, w_.collectives);
        ExecutionGraph& graph = out().graph = loops_graph(once);
        graph.provenance.source = KernelBesideCollectiveParams::kType;
        out().report.source = fmt::format("{} beside {}", graph.names[0], graph.names[1]);
    }
    void machine() override {
        check_buffers(
            {"/workload/size", to_string(w_.size),
             std::visit([](const auto& params) { return operands_of(params); }, w_.kernel),
             "the kernel's operands"},
            context(), out());
    }

private:
    const KernelBesideCollectiveParams& w_;
    std::uint32_t ranks_ = 0;
};

class KernelBesideCollectiveKind final : public GraphKind {
public:
    KernelBesideCollectiveKind() :
        GraphKind(
            {.name = KernelBesideCollectiveParams::kType,
             .shares_machine = false,
             .told = Told::kLoops}) {}

    [[nodiscard]] std::vector<ScenarioParams>
    default_scenarios(const Experiment& experiment) const override {
        const ScenarioParams automatic{"auto", true, {}};
        switch (workload_of<KernelBesideCollectiveParams>(experiment)->collective) {
        case CollectiveKind::kAllReduce:
            return with_switches_across(experiment, {by_rings(), automatic, in_switches(false)});
        case CollectiveKind::kReduceScatter:
        case CollectiveKind::kAllGather:
            return {by_rings(), automatic, in_switches(false)};
        default:
            return {automatic};
        }
    }
    /// Counts of loops are measured beside each other.
    [[nodiscard]] bool follows_communication(const Experiment& /*experiment*/) const override {
        return true;
    }
    [[nodiscard]] std::unique_ptr<WorkloadBuilder> builder(
        const Workload& workload, const WorkloadContext& context,
        PreparedWorkload& out) const override {
        return std::make_unique<LoopsBuilder>(
            *workload.as<KernelBesideCollectiveParams>(), context, out);
    }
    [[nodiscard]] std::string tables(const ExperimentResult& result) const override {
        return figures_table(result, loop_figures()) + intervals_table(result, loop_figures()) +
               slowed_table(result) +
               "\nalone, beside: time of one, in its loop alone and beside the other loop. "
               "iteration: until "
               "both loops\nhave ended. Speed-up: against one loop after the other.\n";
    }
    void measure(
        PreparedWorkload& workload, const SystemParams& system, const ScenarioParams& scenario,
        const SimulateOptions& options, const RunJobs& run) const override {
        Loops& loops = *workload.loops;
        if (loops.kernels > 0 && loops.collectives > 0)
            return;
        loops = with_counts(loops, system, scenario.policies(), options, run);
        workload.graph = loops_graph(loops);
    }
};

}  // namespace

const WorkloadKind& kind_of(const KernelBesideCollectiveParams& /*params*/) {
    static const KernelBesideCollectiveKind kKind;
    return kKind;
}

}  // namespace switchfold
