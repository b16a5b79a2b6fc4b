// SPDX-License-Identifier: Apache-2.0
#include "sim/results/kernel_causes.h"

#include "core/csv.h"
#include "sim/output/slowdown_causes.h"

#include <fmt/format.h>

#include <cmath>

namespace switchfold {

namespace {

/// Less than that, of a kernel's time alone, is not told.
constexpr double kLeastSlowdown = 1e-3;

double slowdown_of(const OperationTimes& times, Time isolated) {
    return static_cast<double>((times.end - times.start).count()) /
               static_cast<double>(isolated.count()) -
           1.0;
}

}  // namespace

std::string kernel_cause_header() {
    std::string header = "scenario,rank,stream,start_us";
    for (const Cause& cause : kCauses)
        header.append(",").append(cause.key);
    return header + "\n";
}

std::string kernel_cause_lines(const ScenarioCauses& causes) {
    std::string lines;
    const ExecutionGraph& graph = causes.scenario.graph;
    for (std::size_t r = 0; r < graph.ranks.size(); ++r) {
        const RankGraph& rank = *graph.ranks[r];
        for (std::size_t i = 0; i < rank.operations.size(); ++i) {
            const Operation& operation = rank.operations[i];
            // The first steps are a graph's first operations.
            if (operation.step >= causes.steps)
                break;
            const auto* kernel = std::get_if<KernelOperation>(&operation.body);
            if (kernel == nullptr || kernel->isolated == Time())
                continue;
            const OperationTimes& own = causes.scenario.outcome.times[r][i];
            const double whole = slowdown_of(own, kernel->isolated);
            if (std::abs(whole) < kLeastSlowdown)
                continue;
            const SlowdownByCause by = find_causes(whole, causes.there, [&](MechanismSet on) {
                return slowdown_of(causes.with.at(on)->times[r][i], kernel->isolated);
            });
            lines += fmt::format(
                "{},{},{},{:.6f}", csv_field(causes.scenario.name), r,
                csv_field(rank.streams[operation.stream].name), to_microseconds(own.start));
            for (const Cause& cause : kCauses)
                lines += fmt::format(",{:.4f}", by.*cause.member);
            lines += "\n";
        }
    }
    return lines;
}

void write_kernel_causes(ResultFolder& folder, const std::vector<ScenarioCauses>& scenarios) {
    std::string lines;
    for (const ScenarioCauses& causes : scenarios)
        lines += kernel_cause_lines(causes);
    if (!lines.empty())
        folder.write("causes.csv", kernel_cause_header() + lines);
}

}  // namespace switchfold
