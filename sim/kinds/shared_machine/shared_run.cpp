// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/shared_machine/shared_run.h"

#include "core/error.h"
#include "workloads/graph/join.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace switchfold {

namespace {

/// Limit on repetitions of a short workload beside a long one; more add no information.
constexpr std::uint32_t kMostRepetitions = 256;

}  // namespace

void SharedRun::simulate() {
    prepare();
    plan_alone();
    log([&] { return fmt::format("simulating each workload alone, {} runs", jobs()); });
    once_ = outcomes();
    for (std::size_t i = 0; i < scenarios_.size(); ++i)
        put_together(i);
    plan_together();
    log([&] { return fmt::format("simulating all together, {} runs", jobs()); });
    outcomes_ = outcomes();
}

void SharedRun::prepare() {
    std::set<std::string> left_out;
    scenarios_.resize(scenarios().size());
    for (const Variant& variant : variants_of(loaded_)) {
        Sharing& sharing = sharings_.emplace_back();
        prepare_tenants(variant, sharing, left_out);
        for (const std::size_t scenario : variant.scenarios)
            scenarios_[scenario].sharing = &sharing;
    }
    if (left_out.empty())
        return;
    if (left_out.size() == scenarios().size() && !left_out_notes_.empty())
        throw SimulationError("every scenario", Time(), left_out_notes_.front());
    for (std::size_t i = scenarios().size(); i-- > 0;)
        if (left_out.contains(scenarios()[i].name))
            scenarios_.erase(scenarios_.begin() + static_cast<std::ptrdiff_t>(i));
    leave_out(loaded_, left_out);
}

/// Leaves out the variant's scenarios without overlap in which a tenant deadlocks.
void SharedRun::prepare_tenants(
    const Variant& variant, Sharing& sharing, std::set<std::string>& left_out) {
    sharing.experiment = variant.experiment;
    sharing.system = with_faults(*variant.experiment);
    for (std::size_t w = 0; w < variant.experiment->workloads.size(); ++w) {
        Tenant& tenant = sharing.tenants.emplace_back();
        tenant.placed = &variant.experiment->workloads[w];
        tenant.params = &tenant.placed->workload;
        tenant.workload =
            prepare_placed(loaded_, variant, w, jobs_of(options(), WorkPhase::kPreparing));
        left_out.merge(std::set(tenant.workload.left_out));
        tenant.separate();
        for (const std::size_t i : variant.scenarios)
            if (!tenant.can_run(scenarios()[i]) && left_out.insert(scenarios()[i].name).second)
                left_out_notes_.push_back(fmt::format(
                    "{} was left out: {}: {}", scenarios()[i].name, tenant.placed->name,
                    tenant.no_serial));
    }
}

std::size_t SharedRun::add_run(
    const Sharing& sharing, const ScenarioParams& scenario, std::string label,
    const ExecutionGraph& graph, const RunAs& as) {
    RunAs own = as;
    if (as.on == kAllMechanisms)
        own.probes = options().probes;
    return add(std::move(label), *sharing.experiment, sharing.system, scenario, graph, own);
}

std::string SharedRun::label_of(std::size_t scenario, std::size_t tenant) const {
    return fmt::format(
        "{}: {}", scenarios()[scenario].name,
        scenarios_[scenario].sharing->tenants[tenant].placed->name);
}

void SharedRun::plan_alone() {
    for (Sharing& sharing : sharings_)
        for (Tenant& tenant : sharing.tenants)
            if (tenant.has_serial())
                tenant.serial_once = add_run(
                    sharing, {"no overlap", false, ring_policy()},
                    tenant.placed->name + " alone, no overlap", tenant.serial);
    for (std::size_t i = 0; i < scenarios_.size(); ++i)
        for (const Tenant& tenant : scenarios_[i].sharing->tenants)
            scenarios_[i].once.push_back(add_run(
                *scenarios_[i].sharing, scenarios()[i], tenant.placed->name + " alone",
                tenant.graph_of(scenarios()[i])));
}

/// Repetitions of each workload: as configured, otherwise enough to last until the longest has
/// run once, even if sharing slows that one down in proportion.
std::vector<std::uint32_t> SharedRun::repetitions(const Shared& shared) const {
    const std::vector<Tenant>& tenants = shared.sharing->tenants;
    std::vector<double> once;
    double longest = 0;
    for (std::size_t w = 0; w < tenants.size(); ++w) {
        once.push_back(static_cast<double>(once_[shared.once[w]].end_ps));
        longest = std::max(
            longest, once.back() * std::max(tenants[w].placed->steps, 1U) +
                         static_cast<double>(tenants[w].placed->start.count()));
    }
    std::vector<std::uint32_t> times;
    for (std::size_t w = 0; w < tenants.size(); ++w) {
        const double free = longest - static_cast<double>(tenants[w].placed->start.count());
        const auto needed = static_cast<std::uint32_t>(std::clamp(
            once[w] < longest
                ? std::ceil(free * static_cast<double>(tenants.size()) / std::max(once[w], 1.0))
                : 1.0,
            1.0, double{kMostRepetitions}));
        const bool overlapping = tenants[w].workload.graph.training.rounds > 1;
        const std::uint32_t asked = tenants[w].placed->steps;
        times.push_back(overlapping ? 1 : asked > 0 ? asked : needed);
    }
    return times;
}

void SharedRun::put_together(std::size_t scenario) {
    Shared& shared = scenarios_[scenario];
    const std::vector<std::uint32_t> times = repetitions(shared);
    std::vector<ExecutionGraph> graphs;
    for (std::size_t w = 0; w < times.size(); ++w) {
        const Tenant& tenant = shared.sharing->tenants[w];
        const ExecutionGraph& graph = tenant.graph_of(scenarios()[scenario]);
        graphs.push_back(times[w] == 1 ? graph : repeat(graph, times[w]));
        delay(graphs.back(), tenant.placed->start);
    }
    shared.whole = join(graphs);
    for (const ExecutionGraph& graph : graphs)
        shared.parts.push_back(part_of(shared.whole, graph));
    check(shared.whole);
}

void SharedRun::plan_together() {
    std::vector<const ExecutionGraph*> wholes;
    for (const Shared& shared : scenarios_)
        wholes.push_back(&shared.whole);
    explore(wholes);
    for (std::size_t i = 0; i < scenarios_.size(); ++i)
        scenarios_[i].together = add_run(
            *scenarios_[i].sharing, scenarios()[i], scenarios()[i].name, scenarios_[i].whole,
            {.watched = true});
    for (std::size_t i = 0; i < scenarios_.size(); ++i)
        for (std::size_t w = 0; w < scenarios_[i].parts.size(); ++w)
            scenarios_[i].alone.push_back(add_run(
                *scenarios_[i].sharing, scenarios()[i], label_of(i, w) + " alone",
                scenarios_[i].parts[w]));
    for (std::size_t i = 0; i < scenarios_.size(); ++i) {
        Shared& shared = scenarios_[i];
        const Sharing& sharing = *shared.sharing;
        const bool computing = std::ranges::any_of(sharing.tenants, &Tenant::computes);
        if (!scenarios()[i].overlap || !computing || !sharing.experiment->causes)
            continue;
        for (const MechanismSet on : cause_runs(mechanisms_of(sharing.system)))
            shared.with[on] =
                on == kAllMechanisms
                    ? shared.together
                    : add_run(
                          sharing, scenarios()[i], scenarios()[i].name, shared.whole, {.on = on});
    }
}

void SharedRun::write(ResultFolder& folder, const ExperimentResult& /*result*/) const {
    std::deque<std::string> labels;  // referred to by rows
    std::vector<RanScenario> rows;
    std::vector<RanMachine> machines;
    for (std::size_t i = 0; i < scenarios_.size(); ++i) {
        const Shared& shared = scenarios_[i];
        const Outcome& outcome = outcomes_[shared.together];
        for (std::size_t w = 0; w < shared.parts.size(); ++w)
            rows.push_back({labels.emplace_back(label_of(i, w)), shared.parts[w], outcome});
        machines.push_back({{scenarios()[i].name, shared.whole, outcome}, shared.sharing->system});
    }
    write_graphs(folder, rows, machines);
}

}  // namespace switchfold
