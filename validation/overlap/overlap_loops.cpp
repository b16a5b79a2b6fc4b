// SPDX-License-Identifier: Apache-2.0
#include "validation/overlap/overlap_loops.h"

#include "sim/machine/likeness.h"
#include "sim/machine/simulate.h"
#include "sim/workload/workload.h"
#include "validation/experiments/mapped_suite.h"
#include "validation/harness/data.h"
#include "validation/harness/suite_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace switchfold::validation {

namespace {

constexpr std::string_view kLoopsTable = "reference/hopper_contention.csv";
constexpr std::string_view kLoopsMap = "validation/maps/overlap_loops.json";

/// A row's loops on its machine.
struct LoopsOfRow {
    const MeasuredExperiment* row;
    LoadedExperiment loaded;

    /// A number in us, if the row states it.
    [[nodiscard]] std::optional<double> us(std::string_view column) const {
        return plain_number(row->record[column]);
    }
    [[nodiscard]] const SystemParams& system() const { return *loaded.experiment.system; }
};

/// Last end of each loop on any rank, us.
struct LoopTimes {
    double collectives = 0;
    double products = 0;
};

LoopTimes
run_loops(const Loops& loops, const SystemParams& system, const CollectivePolicies& policies) {
    const ExecutionGraph graph = loops_graph(loops);
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

/// Times of one collective and one product alone, in us; and of the loops together over their times
/// alone.
struct SimulatedLoop {
    double collective_alone = 0;
    double product_alone = 0;
    double collective = 0;
    double product = 0;
    double whole = 0;  ///< over one loop after the other
};

SimulatedLoop simulate_row(const LoopsOfRow& row) {
    const Loops both = prepare_workload(row.loaded).loops.value();
    const auto policies = row.loaded.experiment.scenarios.front().policies();
    Loops collectives = both;
    collectives.kernels = 0;
    // One after the other always uses kernels on SMs.
    const double classic = run_loops(collectives, row.system(), {}).collectives;
    const double alone = run_loops(collectives, row.system(), policies).collectives;
    Loops together = both;
    if (!row.us("gemm_alone_us"))
        for (KernelOperation& kernel : together.kernel) {
            kernel.isolated = Time(static_cast<std::uint64_t>(
                (*row.us("sequential_us") - classic) / both.kernels * 1e6));
            kernel.l2_share = KernelOperation().l2_share;  // as of a measured time
        }
    Loops products = together;
    products.collectives = 0;
    const double product = run_loops(products, row.system(), policies).products;
    const LoopTimes times = run_loops(together, row.system(), policies);
    return {
        alone / both.collectives, product / both.kernels, times.collectives / alone,
        times.products / product,
        std::max(times.collectives, times.products) / (classic + product)};
}

void add_cases(const LoopsOfRow& row, const SimulatedLoop& simulated, SuiteResult& suite) {
    const auto add = [&](const char* what, double answer, const char* part, const char* base) {
        if (!row.us(part) || !row.us(base))
            return;
        Case c;
        c.id = fmt::format("{}/{}", row.row->id, what);
        c.group = "loops";
        c.quantity = "slowdown";
        c.nothing = 1;
        c.unit = "1";
        c.measured = *row.us(part) / *row.us(base);
        c.simulated = answer;
        c.how = fmt::format(
            "alone {:.0f} us a collective, {:.0f} us a product", simulated.collective_alone,
            simulated.product_alone);
        // Products lose time to collectives, as in steps; the others are of other effects.
        if (std::string_view(what) == "product") {
            c.like = likeness_on(row.system(), "overlap", row.row->gpus);
            c.like.operation = "gemm_conv";
            c.machine = row.system().name;
        }
        suite.cases.push_back(std::move(c));
    };
    add("product", simulated.product, "gemm_together_us", "gemm_alone_us");
    add("collective", simulated.collective, "comm_together_us", "comm_alone_us");
    add("together over one after the other", simulated.whole, "makespan_us", "sequential_us");
}

}  // namespace

void add_loops(const SuiteOptions& options, SuiteResult& suite) {
    const auto file = find_data(options, kLoopsTable);
    if (!file) {
        suite.unmatched.push_back(
            {std::string(kLoopsTable), "skipped: " + why_skipped(kLoopsTable)});
        return;
    }
    const auto rows = mapped_rows(*file, kLoopsMap, options, suite);
    std::vector<LoopsOfRow> loops;
    for (const MeasuredExperiment& row : rows)
        if (row.why.empty())
            loops.push_back({&row, load_row(row)});
        else
            suite.unmatched.push_back({row.id, why_without_line(row)});
    std::vector<Job> jobs;
    for (const LoopsOfRow& row : loops)
        jobs.push_back(
            {row.row->id, [&row](const JobProgress&) { return value_bytes(simulate_row(row)); }});
    const auto results = values_of_suite<SimulatedLoop>(jobs, options);
    for (std::size_t i = 0; i < loops.size(); ++i) {
        add_cases(loops[i], results[i], suite);
        suite.notes.push_back(fmt::format(
            "{}: assumed products in tiles of 128 by 256, a block of 256 threads with 144 KiB an "
            "SM{}",
            loops[i].row->id,
            loops[i].us("gemm_alone_us")
                ? ""
                : ", whose time is what one after the other leaves beside the collective"));
    }
}

}  // namespace switchfold::validation
