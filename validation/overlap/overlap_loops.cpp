// SPDX-License-Identifier: Apache-2.0
#include "validation/overlap/overlap_loops.h"

#include "sim/machine/likeness.h"
#include "sim/machine/simulate.h"
#include "validation/harness/csv_numbers.h"
#include "validation/harness/data.h"
#include "validation/harness/suite_jobs.h"
#include "validation/machines/machines.h"
#include "workloads/graph/loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace switchfold::validation {

namespace {

constexpr std::string_view kLoopsTable = "reference/hopper_contention.csv";
constexpr std::uint64_t kTileRows = 128;
constexpr std::uint64_t kTileColumns = 256;
constexpr std::uint64_t kElement = 2;  ///< bytes per element

/// Last end of each loop on any rank, us.
struct LoopTimes {
    double collectives = 0;
    double products = 0;
    [[nodiscard]] double whole() const { return std::max(collectives, products); }
};

LoopTimes run_loop(
    const ContentionLoop& loop, const KernelOperation& product, const SystemParams& system,
    LoopParts parts) {
    const ExecutionGraph graph = loop_graph(loop, product, parts);
    CollectivePolicies policies;
    if (loop.copy_engines)
        policies.all_gather.emplace().kernels = Kernels::kCopyEngine;
    const Outcome outcome = simulate(system, graph, policies);
    LoopTimes times;
    for (std::size_t rank = 0; rank < graph.ranks.size(); ++rank)
        for (std::size_t i = 0; i < graph.ranks[rank]->operations.size(); ++i) {
            const bool kernel =
                std::holds_alternative<KernelOperation>(graph.ranks[rank]->operations[i].body);
            double& end = kernel ? times.products : times.collectives;
            end = std::max(end, to_microseconds(outcome.times[rank][i].end));
        }
    return times;
}

/// Time of one product, us; if not measured, the sequential run's time minus the collectives.
double product_time(const ContentionLoop& loop, double collectives) {
    return loop.product_alone.value_or((loop.sequential.value_or(0) - collectives) / loop.products);
}

/// Times of one collective and one product alone, in us; and of the loops together over their times
/// alone.
struct SimulatedLoop {
    double collective_alone = 0;
    double product_alone = 0;
    double collective = 0;
    double product = 0;
    double whole = 0;  ///< over one loop after the other
};

SimulatedLoop simulate_row(const ContentionLoop& loop, const SystemParams& system) {
    // The sequential run always uses kernels on SMs.
    ContentionLoop classic = loop;
    classic.copy_engines = false;
    const double classics = run_loop(classic, {}, system, LoopParts::kCollectives).collectives;
    const double collectives = loop.copy_engines
                                   ? run_loop(loop, {}, system, LoopParts::kCollectives).collectives
                                   : classics;
    const KernelOperation product = product_kernel(loop, product_time(loop, classics));
    const double products = run_loop(loop, product, system, LoopParts::kProducts).products;
    const LoopTimes together = run_loop(loop, product, system, LoopParts::kBoth);
    return {
        collectives / loop.collectives, products / loop.products,
        together.collectives / collectives, together.products / products,
        together.whole() / (classics + products)};
}

void add_cases(
    const ContentionLoop& loop, const SystemParams& system, const SimulatedLoop& simulated,
    SuiteResult& suite) {
    const std::string alone = fmt::format(
        "alone {:.0f} us a collective, {:.0f} us a product", simulated.collective_alone,
        simulated.product_alone);
    const auto add = [&](const char* what, double SimulatedLoop::*which, std::optional<double> part,
                         std::optional<double> base) {
        if (!part || !base)
            return;
        Case c;
        c.id = fmt::format("{}/{}", loop.id, what);
        c.group = kLoopsGroup;
        c.quantity = "slowdown";
        c.nothing = 1;
        c.unit = "1";
        c.measured = *part / *base;
        c.simulated = simulated.*which;
        c.how = alone;
        // Products lose time to collectives, as in steps; the others are of other effects.
        if (which == &SimulatedLoop::product) {
            c.like = likeness_on(system, "overlap", loop.gpus);
            c.like.operation = "gemm_conv";
            c.machine = system.name;
        }
        suite.cases.push_back(std::move(c));
    };
    add("product", &SimulatedLoop::product, loop.product_together, loop.product_alone);
    add("collective", &SimulatedLoop::collective, loop.collective_together, loop.collective_alone);
    add("together over one after the other", &SimulatedLoop::whole, loop.makespan, loop.sequential);
}

}  // namespace

std::optional<ContentionLoop>
read_loop(const CsvRecord& row, const std::string& file, std::string& why) {
    ContentionLoop loop;
    CsvNumbers numbers(file);
    constexpr double kMost = 4e9;
    const std::string expected = fmt::format("a number from 0 to {}, or nothing", kMost);
    const auto number = [&](std::string_view column) {
        return numbers.read<double>(row, column, 0, expected, kMost);
    };
    const auto whole = [&](std::string_view column) {
        return static_cast<std::uint32_t>(number(column).value_or(0));
    };
    loop.id = row["id"];
    loop.gpu = row["gpu"];
    loop.interconnect = row["interconnect"];
    loop.gpus = whole("n_gpus");
    const std::string& collective = row["collective"];
    for (const CollectiveKind kind : kCollectiveKinds)
        if (collective.starts_with(to_string(kind)))
            loop.kind = kind;
    loop.datatype =
        collective.find("half") != std::string::npos ? Datatype::kFloat16 : Datatype::kFloat32;
    loop.copy_engines = row["mode"].starts_with("copy engines");
    loop.bytes = Bytes(whole("comm_bytes"));
    loop.blocks = whole("comm_blocks");
    loop.collectives = whole("n_comm");
    loop.products = whole("n_gemm");
    loop.m = whole("gemm_m");
    loop.n = whole("gemm_n");
    loop.k = whole("gemm_k");
    loop.collective_alone = number("comm_alone_us");
    loop.collective_together = number("comm_together_us");
    loop.product_alone = number("gemm_alone_us");
    loop.product_together = number("gemm_together_us");
    loop.makespan = number("makespan_us");
    loop.sequential = number("sequential_us");
    numbers.throw_if_failed();
    if (!loop.product_alone && !loop.sequential)
        why = "times neither the product alone nor both one after the other";
    if (loop.copy_engines && loop.kind != CollectiveKind::kAllGather)
        why = "is no all-gather, which is what loops by copy engines are simulated with";
    else if (
        loop.gpus == 0 || loop.m == 0 || loop.n == 0 || loop.k == 0 || loop.bytes == Bytes(0) ||
        loop.products == 0 || loop.collectives == 0)
        why = "does not say how large the product or the collective is";
    return why.empty() ? std::optional(loop) : std::nullopt;
}

KernelOperation product_kernel(const ContentionLoop& loop, double alone_us) {
    constexpr std::uint64_t kStages = 3;
    constexpr std::uint64_t kDepth = 64;
    const auto tiles = [](std::uint64_t size, std::uint64_t tile) {
        return static_cast<std::uint32_t>((size + tile - 1) / tile);
    };
    KernelOperation kernel;
    kernel.grid = {tiles(loop.m, kTileRows), tiles(loop.n, kTileColumns), 1};
    kernel.block = {256, 1, 1};
    kernel.registers_per_thread = 230;
    kernel.shared_memory = Bytes(kStages * kDepth * (kTileRows + kTileColumns) * kElement);
    kernel.isolated = Time(static_cast<std::uint64_t>(alone_us * 1e6));
    kernel.bytes_read = Bytes((loop.m * loop.k + loop.k * loop.n) * kElement);
    kernel.bytes_written = Bytes(loop.m * loop.n * kElement);
    kernel.byte_source = ByteSource::kShapes;
    kernel.kernel_class = KernelClass::kGemmConv;
    return kernel;
}

ExecutionGraph
loop_graph(const ContentionLoop& loop, const KernelOperation& product, LoopParts parts) {
    Loops loops;
    loops.kernel.assign(loop.gpus, product);
    loops.collective.kind = loop.kind;
    loops.collective.bytes = loop.bytes;
    loops.collective.datatype = loop.datatype;
    loops.collective.thread_blocks = loop.blocks;
    loops.kernel_name = "product";
    loops.collective_name = "collective";
    loops.kernels = parts == LoopParts::kCollectives ? 0 : loop.products;
    loops.collectives = parts == LoopParts::kProducts ? 0 : loop.collectives;
    ExecutionGraph graph = loops_graph(loops);
    graph.provenance.source = loop.id;
    return graph;
}

void add_loops(const SuiteOptions& options, SuiteResult& suite) {
    const auto file = find_data(options, kLoopsTable);
    if (!file) {
        suite.unmatched.push_back(
            {std::string(kLoopsTable), "skipped: " + why_skipped(kLoopsTable)});
        return;
    }
    const Machines machines(options.root);
    std::vector<ContentionLoop> loops;
    std::vector<SystemParams> systems;
    for (const CsvRecord& row : read_csv(*file).records) {
        std::string why;
        const auto loop = read_loop(row, file->string(), why);
        if (!loop) {
            suite.unmatched.push_back({row["id"], why});
            continue;
        }
        const MachineMatch match =
            machines.find({loop->gpu, loop->interconnect, loop->gpus, std::nullopt});
        if (!match.machine) {
            suite.unmatched.push_back({loop->id, match.why});
            continue;
        }
        loops.push_back(*loop);
        systems.push_back(match.machine->system);
    }
    std::vector<Job> jobs;
    for (std::size_t i = 0; i < loops.size(); ++i)
        jobs.push_back({loops[i].id, [&loops, &systems, i](const JobProgress&) {
                            return value_bytes(simulate_row(loops[i], systems[i]));
                        }});
    const auto results = values_of_suite<SimulatedLoop>(jobs, options);
    for (std::size_t i = 0; i < loops.size(); ++i) {
        add_cases(loops[i], systems[i], results[i], suite);
        suite.notes.push_back(fmt::format(
            "{}: assumed products in tiles of {} by {}, a block of 256 threads with 144 KiB an "
            "SM{}",
            loops[i].id, kTileRows, kTileColumns,
            loops[i].product_alone
                ? ""
                : ", whose time is what one after the other leaves beside the collective"));
    }
}

}  // namespace switchfold::validation
