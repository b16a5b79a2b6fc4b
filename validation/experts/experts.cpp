// SPDX-License-Identifier: Apache-2.0
#include "sim/core/json.h"
#include "sim/run/machine/graph_run.h"
#include "sim/run/machine/likeness.h"
#include "sim/run/pool/pool.h"
#include "sim/run/workload/experts_workload.h"
#include "validation/experts/experts_tables.h"
#include "validation/experts/knees.h"
#include "validation/harness/data.h"
#include "validation/machines/machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace switchfold::validation {

std::uint32_t knee_of(const TimeBySms& times) {
    constexpr double kGain = 1.1;
    double best = times.rbegin()->second;
    for (const auto& [sms, us] : times)
        best = std::min(best, us);
    for (const auto& [sms, us] : times)
        if (us <= best * kGain)
            return sms;
    return times.rbegin()->first;
}

namespace {

constexpr double kTimes = 0.20;             ///< mean absolute error of times, by library
constexpr double kKnees = 0.20;             ///< mean error of the knees of curves
constexpr std::uint32_t kCurveFrom = 1024;  ///< tokens; start-up time dominates below

/// A row to be simulated.
struct PlannedExperts {
    const ExpertsRow* row;
    std::size_t run;
};
struct ExpertsRun {
    std::string label;
    const SystemParams* system;
    ExpertsLibrary library;
    CollectiveKind kind;
    ExpertExchange exchange;
    std::uint32_t ranks;
    std::uint32_t sms;
};
struct Plan {
    std::vector<PlannedExperts> rows;
    std::vector<ExpertsRun> runs;
    std::vector<Unmatched> unmatched;
};

std::string id_of(const ExpertsRow& row) {
    return fmt::format("{}/{}", row.table, row.tokens);
}

class ExpertsPlanner {
public:
    explicit ExpertsPlanner(const Machines& machines) : machines_(machines) {}

    Plan run(const std::vector<ExpertsRow>& rows) {
        for (const ExpertsRow& row : rows)
            if (const std::string why = add(row); !why.empty())
                plan_.unmatched.push_back({id_of(row), why});
        return std::move(plan_);
    }
    /// Machines that runs point to.
    [[nodiscard]] const std::map<std::string, SystemParams>& systems() const { return systems_; }

private:
    /// \returns the reason why the row cannot be compared; nothing if it can.
    std::string add(const ExpertsRow& row) {
        if (!row.operation)
            return fmt::format("{} is no dispatch or combine", row.operation_name);
        if (!row.library)
            return fmt::format("the kernel {} is not simulated", row.kernel);
        if (!row.experts)
            return "the row does not say how many experts there are";
        if (!row.payload)
            return fmt::format("the datatype \"{}\" is not known", row.datatype);
        const MachineMatch match = machines_.find({row.gpu, row.interconnect, row.gpus, row.nodes});
        if (!match.machine)
            return match.why;
        const std::string key =
            fmt::format("{} {} {}", match.machine->name, match.machine->nodes, row.gpus);
        const SystemParams& system = systems_.try_emplace(key, match.machine->system).first->second;
        ExpertExchange exchange;
        exchange.tokens = row.tokens;
        exchange.hidden = row.hidden;
        exchange.top_k = row.top_k;
        exchange.experts = *row.experts;
        exchange.payload = *row.payload;
        exchange.routing = *row.library == ExpertsLibrary::kTrtllmTwoSided
                               ? ExpertRouting::kBalanced
                               : ExpertRouting::kRandom;
        ExpertsPolicy policy;
        policy.library = *row.library;
        policy.sms = row.blocks;
        const Refusal refusal =
            refused_exchange(system, {exchange, policy, experts_machine(system, row.gpus)});
        if (refusal)
            return refusal.why;
        const auto run = std::tuple(
            key,
            *row.library,
            *row.operation,
            row.tokens,
            row.hidden,
            row.top_k,
            *row.experts,
            *row.payload,
            row.blocks);
        const auto [at, fresh] = runs_.try_emplace(run, plan_.runs.size());
        if (fresh)
            plan_.runs.push_back(
                {id_of(row),
                 &system,
                 *row.library,
                 *row.operation,
                 exchange,
                 row.gpus,
                 row.blocks});
        plan_.rows.push_back({&row, at->second});
        return {};
    }

    const Machines& machines_;
    Plan plan_;
    std::map<std::string, SystemParams> systems_;
    std::map<
        std::tuple<
            std::string,
            ExpertsLibrary,
            CollectiveKind,
            std::uint32_t,
            std::uint32_t,
            std::uint32_t,
            std::uint32_t,
            ExpertPayload,
            std::uint32_t>,
        std::size_t>
        runs_;
};

Job experts_job(const ExpertsRun& run) {
    return {
        run.label, [&run](const JobProgress& progress) {
            GraphRunOptions options;
            options.progress = progress;
            CollectivePolicies policies;
            policies.experts.library = run.library;
            policies.experts.sms = run.sms;
            const ExpertsOperation operation = run.kind == CollectiveKind::kMoeDispatch
                                                   ? ExpertsOperation::kDispatch
                                                   : ExpertsOperation::kCombine;
            const GraphRun done = run_graph(
                *run.system, experts_step(operation, run.exchange, run.ranks), policies, options);
            const CollectiveResult& c = done.collectives.at(0);
            return OrderedJson{c.time_us, c.algorithm, c.size_bytes}.dump();
        }};
}

struct TimedExchange {
    double us = 0;
    std::string algorithm;
    std::uint64_t bytes = 0;
};

std::vector<TimedExchange> simulate_experts(const Plan& plan, const SuiteOptions& options) {
    // Longest first, so that short ones fill the cores at the end.
    std::vector<std::size_t> order(plan.runs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto weight = [&](std::size_t i) {
        const ExpertExchange& e = plan.runs[i].exchange;
        return std::uint64_t{e.tokens} * e.hidden * e.top_k;
    };
    std::stable_sort(
        order.begin(), order.end(), [&](auto a, auto b) { return weight(a) > weight(b); });
    std::vector<Job> jobs;
    for (const std::size_t i : order)
        jobs.push_back(experts_job(plan.runs[i]));
    std::vector<TimedExchange> times(plan.runs.size());
    run_jobs(jobs, options.jobs, options.progress, [&](std::size_t job, const JobResult& result) {
        if (result.code != ExitCode::kDone)
            rethrow(jobs[job], result);
        const OrderedJson done = OrderedJson::parse(result.bytes);
        times[order[job]] = {
            done[0].get<double>(), done[1].get<std::string>(), done[2].get<std::uint64_t>()};
    });
    return times;
}

Case time_case(
    const ExpertsRow& row, const ExpertsRun& run, const TimedExchange& simulated, bool fitted) {
    Case c;
    c.id = id_of(row);
    c.group = row.group;
    c.quantity = "time";
    c.unit = "us";
    c.measured = row.time_us;
    c.simulated = simulated.us;
    c.like = likeness_on(*run.system, "collective", run.ranks);
    c.like.operation = to_string(run.kind);
    c.like.algorithm = simulated.algorithm;
    c.like.bytes = static_cast<double>(simulated.bytes);
    c.machine = run.system->name;
    c.fitted = fitted;
    c.how = row.blocks == 0 ? row.kernel : fmt::format("{}, {} SMs", row.kernel, row.blocks);
    return c;
}

/// SMs at which measured and simulated curves of time over SMs become flat.
std::vector<Case> knee_cases(const Plan& plan, const std::vector<Case>& times) {
    struct Curve {
        TimeBySms measured;
        TimeBySms simulated;
        bool fitted = false;
    };
    std::map<std::pair<std::string, std::uint32_t>, Curve> curves;
    std::vector<std::pair<std::string, std::uint32_t>> order;
    for (std::size_t i = 0; i < plan.rows.size(); ++i) {
        const ExpertsRow& row = *plan.rows[i].row;
        if (row.blocks == 0 || row.tokens < kCurveFrom)
            continue;
        const std::pair key(row.group, row.tokens);
        const auto [at, fresh] = curves.try_emplace(key);
        if (fresh)
            order.push_back(key);
        at->second.measured[row.blocks] = times[i].measured;
        at->second.simulated[row.blocks] = times[i].simulated;
        at->second.fitted = at->second.fitted || times[i].fitted;
    }
    std::vector<Case> cases;
    for (const auto& key : order) {
        const Curve& curve = curves.at(key);
        if (curve.measured.size() < 3)
            continue;
        Case c;
        c.id = fmt::format("{}/{}/knee", key.first, key.second);
        c.group = "knees";
        c.quantity = "knee";
        c.unit = "SMs";
        c.measured = knee_of(curve.measured);
        c.simulated = knee_of(curve.simulated);
        c.fitted = curve.fitted;
        cases.push_back(std::move(c));
    }
    return cases;
}

std::vector<Verdict>
experts_verdicts(const Plan& plan, const std::vector<Case>& times, const std::vector<Case>& knees) {
    std::vector<Verdict> out;
    const auto add = [&](const std::string& what, const auto& wanted) {
        std::vector<const Case*> chosen;
        for (std::size_t i = 0; i < plan.rows.size(); ++i)
            if (wanted(plan.rows[i], times[i]))
                chosen.push_back(&times[i]);
        if (!chosen.empty())
            out.push_back({what, mape(chosen), kTimes});
    };
    for (const auto& [library, name] : EnumNames<ExpertsLibrary>::kNames)
        for (const bool fitted : {false, true})
            add(fmt::format(
                    "{}: mean absolute error of times, {}",
                    name,
                    fitted ? "tables that something was fitted on" : "tables never used"),
                [&, wanted = library](const PlannedExperts& planned, const Case& c) {
                    return *planned.row->library == wanted && c.fitted == fitted;
                });
    if (!knees.empty())
        out.push_back({"knees: mean absolute error of SMs", mape(knees), kKnees});
    return out;
}

}  // namespace

SuiteResult run_experts(const SuiteOptions& options) {
    const Suite& suite = suite_named("experts");
    const auto data = data_of(suite, options);
    if (!data)
        return skipped(suite);
    SuiteResult result;
    result.name = suite.name;
    std::vector<ExpertsRow> rows = read_experts_tables(*data, &result.unmatched);
    // The repository keeps its part of such rows in a separate file.
    if (const auto more = find_data(options, "reference/expert_exchanges.csv");
        rows.empty() && more)
        rows = read_experts_tables(*more, &result.unmatched);
    const Machines machines(options.root);
    ExpertsPlanner planner(machines);
    Plan plan = planner.run(rows);
    const std::vector<TimedExchange> times = simulate_experts(plan, options);
    for (const PlannedExperts& planned : plan.rows)
        result.cases.push_back(time_case(
            *planned.row,
            plan.runs[planned.run],
            times[planned.run],
            machines.fitted_on(planned.row->table)));
    const std::vector<Case> knees = knee_cases(plan, result.cases);
    result.verdicts = experts_verdicts(plan, result.cases, knees);
    const auto right = std::count_if(
        knees.begin(), knees.end(), [](const Case& c) { return c.measured == c.simulated; });
    if (!knees.empty())
        result.notes.push_back(fmt::format(
            "knees (fewest SMs within 10 % of the best time, from {} tokens on): {} of {} curves "
            "have the measured one",
            kCurveFrom,
            right,
            knees.size()));
    result.cases.insert(result.cases.end(), knees.begin(), knees.end());
    result.unmatched.insert(result.unmatched.end(), plan.unmatched.begin(), plan.unmatched.end());
    return result;
}

}  // namespace switchfold::validation
