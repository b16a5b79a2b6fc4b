// SPDX-License-Identifier: Apache-2.0
#include "validation/calibrate/observed.h"
#include "validation/machines/bounds.h"
#include "workloads/graph/collective.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <tuple>

namespace switchfold::validation {

namespace {

std::string group_of(const MeasuredRow& row, std::uint32_t nodes) {
    return fmt::format(
        "{} of {} GPUs{}", to_string(*row.collective), row.gpus,
        nodes > 1 ? fmt::format(" on {} machines", nodes) : "");
}

class MachineFitter {
public:
    explicit MachineFitter(const std::filesystem::path& system) : system_(system) {}
    std::shared_ptr<const MatchedMachine> of(const MeasuredRow& row) {
        const auto key = std::tuple(row.gpu, row.interconnect, row.gpus, row.nodes.value_or(0));
        std::shared_ptr<const MatchedMachine>& machine = machines_[key];
        if (!machine)
            machine = std::make_shared<const MatchedMachine>(
                *fit_machine(system_, {row.gpu, row.interconnect, row.gpus, row.nodes}).machine);
        return machine;
    }

private:
    const std::filesystem::path& system_;
    std::map<
        std::tuple<std::string, std::string, std::uint32_t, std::uint32_t>,
        std::shared_ptr<const MatchedMachine>>
        machines_;
};

}  // namespace

void observe_collectives(
    const std::vector<MeasuredRow>& rows, const CalibrationData& data, const Machines& machines,
    Observations& out) {
    const CollectivePlan plan = plan_collectives(rows, machines, data.system);
    out.left_out.insert(out.left_out.end(), plan.unmatched.begin(), plan.unmatched.end());
    out.notes.insert(out.notes.end(), plan.notes.begin(), plan.notes.end());
    MachineFitter fitter(data.system);
    const auto launches = std::make_shared<const BenchmarkLaunches>(rows);
    PointMerger merger(out.points);
    std::size_t large = 0;
    for (const PlannedRow& planned : plan.rows) {
        const MeasuredRow& row = *planned.row;
        const auto time = measured_time(row);
        if (!row.bytes || !time) {
            out.left_out.push_back({planned.id, "the row gives no size, or no time"});
            continue;
        }
        if (*row.bytes > data.largest) {
            ++large;
            continue;
        }
        const PlannedRun& run = plan.runs[planned.run];
        if (std::string why = why_impossible(
                run.system, run.kind, *row.bytes, row.gpus, time->high.value_or(time->us) * 1e-6);
            !why.empty()) {
            out.left_out.push_back({planned.id, std::move(why)});
            continue;
        }
        CalibrationPoint point;
        const auto machine = fitter.of(row);
        point.group = group_of(row, machine->nodes);
        point.size = static_cast<double>(*row.bytes);
        point.measured_us = time->us;
        point.measured = 1;
        point.large = *row.bytes >= 1ULL << 20U;
        point.what = CollectivePoint{run, machine, launches, row};
        ++out.rows;
        merger.add(fmt::format("{} {}", planned.run, planned.launches.count()), std::move(point));
    }
    if (large > 0)
        out.notes.push_back(fmt::format(
            "{} rows above {} are not used: they say what smaller ones say, and take longer", large,
            to_string(Bytes(data.largest))));
}

}  // namespace switchfold::validation
