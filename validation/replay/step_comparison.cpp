// SPDX-License-Identifier: Apache-2.0
#include "validation/replay/step_comparison.h"

#include "workloads/profile/intervals.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace switchfold::validation {

namespace {

/// All kernels of a trace, or those of one pass.
using Pass = std::optional<Phase>;

std::string name_of(Pass pass) {
    return pass ? std::string(to_string(*pass)) : "all";
}

double duration_us(const OperationTimes& span) {
    return to_microseconds(span.end - span.start);
}

class StepComparison {
public:
    StepComparison(
        const std::string& id, const OverlapTrace& pairs, const std::vector<RankSpans>& ranks,
        SuiteResult& suite) :
        id_(id), pairs_(pairs), ranks_(ranks), suite_(suite) {}

    void run() {
        for (const Pass pass : {Pass(), Pass(Phase::kForward), Pass(Phase::kBackward)})
            compare_kernels(pass);
        compare_collectives();
    }

private:
    /// Mean over the ranks that a trace stands for.
    [[nodiscard]] double simulated_us(const OverlappedRun& run) const {
        const auto& simulated = ranks_[run.file].simulated;
        double sum = 0;
        for (const auto& rank : simulated)
            sum += duration_us(rank[run.operation]);
        return sum / static_cast<double>(simulated.size());
    }
    [[nodiscard]] const Operation& operation_of(const OverlappedRun& run) const {
        return ranks_[run.file].graph->operations[run.operation];
    }
    /// Total isolated time of the pass's kernels.
    [[nodiscard]] double isolated_us(Pass pass) const {
        double sum = 0;
        for (const RankSpans& rank : ranks_)
            for (const Operation& operation : rank.graph->operations)
                if (const auto* kernel = std::get_if<KernelOperation>(&operation.body);
                    kernel != nullptr && (!pass || operation.phase == *pass))
                    sum += to_microseconds(kernel->isolated);
        return sum;
    }

    void
    add(const std::string& what, const std::string& unit, double measured, double simulated,
        const std::string& how, std::optional<double> low = std::nullopt,
        std::optional<double> high = std::nullopt) {
        Case c;
        c.id = fmt::format("{}/{}", id_, what);
        c.group = id_.substr(0, id_.find('/'));
        c.quantity = what.substr(0, what.find('/'));
        c.unit = unit;
        c.nothing = c.quantity == "slowdown" ? 1 : 0;
        c.measured = measured;
        c.low = low;
        c.high = high;
        c.simulated = simulated;
        c.how = how;
        suite_.cases.push_back(std::move(c));
    }

    void compare_kernels(Pass pass) {
        std::vector<const OverlappedRun*> runs;
        double measured = 0;
        double baseline = 0;
        double simulated = 0;
        double isolated = 0;
        for (const KernelGroup& group : pairs_.groups)
            for (const OverlappedRun& run : group.runs) {
                const Operation& operation = operation_of(run);
                if (pass && operation.phase != *pass)
                    continue;
                runs.push_back(&run);
                measured += run.duration_us;
                baseline += run.baseline_us;
                simulated += simulated_us(run);
                isolated += to_microseconds(std::get<KernelOperation>(operation.body).isolated);
            }
        const std::string name = name_of(pass);
        if (runs.size() < kFewest || measured <= baseline) {
            suite_.unmatched.push_back(
                {fmt::format("{}/kernels/{}", id_, name),
                 runs.size() < kFewest
                     ? fmt::format("{} runs beside collectives were paired", runs.size())
                     : fmt::format("{} runs beside collectives lost nothing", runs.size())});
            return;
        }
        const double all = isolated_us(pass);
        const WeightedSlowdown interval = weighted(runs);
        const std::string how = fmt::format("{} runs", runs.size());
        add("time lost/" + name, "1", (measured - baseline) / all, (simulated - isolated) / all,
            how, (interval.low - 1) * baseline / all, (interval.high - 1) * baseline / all);
        add("slowdown/" + name, "1", interval.slowdown, simulated / isolated, how, interval.low,
            interval.high);
    }

    void compare_collectives() {
        Residence measured;
        Residence simulated;
        for (const RankSpans& rank : ranks_) {
            const Residence traced = residence_of(*rank.graph, rank.measured);
            measured.resident_us += traced.resident_us;
            measured.beside_us += traced.beside_us;
            const auto share = 1.0 / static_cast<double>(rank.simulated.size());
            for (const auto& one : rank.simulated) {
                const Residence run = residence_of(*rank.graph, one);
                simulated.resident_us += run.resident_us * share;
                simulated.beside_us += run.beside_us * share;
            }
        }
        if (measured.resident_us <= 0 || simulated.resident_us <= 0)
            return;
        add("residence", "us", measured.resident_us, simulated.resident_us, "of all collectives");
        if (measured.beside_us > 0)
            add("overlap share", "1", measured.beside_us / measured.resident_us,
                simulated.beside_us / simulated.resident_us, "of the residence");
    }

    const std::string& id_;
    const OverlapTrace& pairs_;
    const std::vector<RankSpans>& ranks_;
    SuiteResult& suite_;
};

}  // namespace

Residence residence_of(const RankGraph& rank, std::span<const OperationTimes> operations) {
    BigVector<Interval> kernels;
    for (std::size_t i = 0; i < rank.operations.size(); ++i)
        if (std::holds_alternative<KernelOperation>(rank.operations[i].body))
            kernels.push_back({operations[i].start.count(), operations[i].end.count()});
    merge_intervals(kernels);
    Residence residence;
    for (std::size_t i = 0; i < rank.operations.size(); ++i) {
        if (!std::holds_alternative<CollectiveOperation>(rank.operations[i].body))
            continue;
        residence.resident_us += duration_us(operations[i]);
        residence.beside_us +=
            1e-6 * static_cast<double>(
                       covered(kernels, operations[i].start.count(), operations[i].end.count()));
    }
    return residence;
}

void compare_step(
    const std::string& id, const OverlapTrace& pairs, const std::vector<RankSpans>& ranks,
    SuiteResult& suite) {
    StepComparison(id, pairs, ranks, suite).run();
}

}  // namespace switchfold::validation
