// SPDX-License-Identifier: Apache-2.0
#include "core/byte_codec.h"
#include "core/error.h"
#include "sim/pool/pool.h"
#include "validation/collectives/benchmark_loop.h"
#include "validation/collectives/collective_plan.h"
#include "validation/collectives/nccl_logs.h"
#include "validation/harness/data.h"
#include "validation/harness/longest_first.h"
#include "validation/machines/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace switchfold::validation {

namespace {

/// How near the suite promises to be, as mean absolute errors.
constexpr double kLarge = 0.12;  ///< of times from 1 MiB on
constexpr double kSmall = 0.25;  ///< of times below
constexpr std::uint64_t kLargeFrom = 1ULL << 20U;

struct Simulated {
    double us = 0;
    std::string how;  ///< algorithm, protocol, thread blocks
    std::string algorithm;
    std::string why = {};  ///< reason why it has no time; empty if it has one

    static constexpr auto fields() {
        using S = Simulated;
        return list_of(
            member("us", &S::us), member("how", &S::how), member("algorithm", &S::algorithm),
            member("why", &S::why));
    }
};

Job collective_job(const PlannedRun& run) {
    return {run.label, [&run](const JobProgress& progress) {
                GraphRunOptions options;
                options.progress = progress;
                CollectivePolicy policy;
                policy.algorithm = run.algorithm;
                policy.channels = run.channels;
                const TimedCollective done = time_planned(run, policy, options);
                const CollectiveResult& c = done.result;
                return value_bytes(Simulated{
                    done.us,
                    c.algorithm == "in_switch"
                        ? fmt::format("{} {}", c.algorithm, c.channels)
                        : fmt::format("{} {} {}", c.algorithm, c.protocol, c.channels),
                    c.algorithm});
            }};
}

std::vector<Simulated> simulate_plan(const CollectivePlan& plan, const SuiteOptions& options) {
    const std::vector<std::size_t> order = longest_first(plan.runs.size(), [&](std::size_t i) {
        return plan.runs[i].bytes.count() * plan.runs[i].ranks;
    });
    std::vector<Job> jobs;
    for (const std::size_t i : order)
        jobs.push_back(collective_job(plan.runs[i]));
    std::vector<Simulated> simulated(plan.runs.size());
    const PoolOptions pool{options.jobs, false, 0, options.row_seconds.value_or(0)};
    run_jobs(jobs, pool, options.progress, [&](std::size_t job, const JobResult& result) {
        if (result.out_of_time) {
            simulated[order[job]].why = result.error;
            return;
        }
        if (result.code != ExitCode::kDone)
            rethrow(jobs[job], result);
        simulated[order[job]] = value_of_bytes<Simulated>(result.bytes);
    });
    return simulated;
}

Case collective_case(
    const PlannedRow& planned, const PlannedRun& run, Simulated simulated, bool fitted) {
    if (const double launches = to_microseconds(planned.launches); simulated.us < launches) {
        simulated.us = launches;
        simulated.how += ", launches";
    }
    const MeasuredRow& row = *planned.row;
    Case c;
    c.id = planned.id;
    c.group = row.table;
    c.fitted = fitted;
    c.how = simulated.how;
    c.like = likeness_of(run, simulated.algorithm);
    c.machine = run.system.name;
    if (const auto measured = measured_time(row)) {
        c.quantity = "time";
        c.unit = "us";
        c.measured = measured->us;
        c.low = measured->low;
        c.high = measured->high;
        c.simulated = simulated.us;
        const auto bus = [&](double us) {
            return bus_bandwidth_GBps(*row.collective, *row.bytes, row.gpus, us);
        };
        c.how += fmt::format(
            ", {:.2f} for {:.2f} GB/s of bus bandwidth", bus(c.simulated), bus(c.measured));
    } else {
        c.quantity = "bus bandwidth";
        c.unit = "GB/s";
        c.measured = *row.bus_bandwidth;
        c.simulated = bus_bandwidth_GBps(*row.collective, kPeakBytes, row.gpus, simulated.us);
    }
    return c;
}

/// Takes rows out of the plan that no machine can have measured, or that `why` says a reason of.
template <class Why>
void leave_out_rows(CollectivePlan& plan, const Why& why) {
    std::erase_if(plan.rows, [&](const PlannedRow& row) {
        const std::string reason = why(row);
        if (!reason.empty())
            plan.unmatched.push_back({row.id, fmt::format("line {}: {}", row.row->line, reason)});
        return !reason.empty();
    });
}

/// Why the links of the row's machine cannot be as fast as it says.
std::string why_too_fast(const CollectivePlan& plan, const PlannedRow& planned) {
    const PlannedRun& run = plan.runs[planned.run];
    const auto measured = measured_time(*planned.row);
    if (!measured)
        return {};
    return why_impossible(
        run.system, run.kind, run.bytes.count(), run.ranks,
        measured->high.value_or(measured->us) * 1e-6);
}

/// Ratio of bus bandwidth with in-switch reduction to that without, for each pair of rows.
std::vector<Case> ratios(const CollectivePlan& plan, const std::vector<Case>& cases) {
    std::map<std::pair<std::string, std::uint64_t>, std::pair<std::size_t, std::size_t>> pairs;
    constexpr std::size_t kNone = SIZE_MAX;
    std::vector<std::pair<std::string, std::uint64_t>> order;
    for (std::size_t i = 0; i < plan.rows.size(); ++i) {
        const PlannedRow& row = plan.rows[i];
        if (row.pair.empty())
            continue;
        const std::pair key(row.pair, row.row->bytes.value_or(0));
        const auto [at, fresh] = pairs.try_emplace(key, kNone, kNone);
        if (fresh)
            order.push_back(key);
        (row.pair_reduces ? at->second.first : at->second.second) = i;
    }
    std::vector<Case> out;
    for (const auto& key : order) {
        const auto [on, off] = pairs.at(key);
        if (on == kNone || off == kNone)
            continue;
        const bool by_time = cases[on].quantity == "time";
        const auto gain = [&](double with, double without) {
            return by_time ? without / with : with / without;
        };
        Case c;
        c.id = fmt::format(
            "{}/{}/in-switch over ring", key.first,
            key.second == 0 ? "" : std::to_string(key.second));
        c.group = "in-switch over ring";
        c.quantity = "bandwidth ratio";
        c.unit = "1";
        c.nothing = 1;
        c.measured = gain(cases[on].measured, cases[off].measured);
        c.simulated = gain(cases[on].simulated, cases[off].simulated);
        c.fitted = cases[on].fitted || cases[off].fitted;
        out.push_back(std::move(c));
    }
    return out;
}

std::vector<Verdict>
collective_verdicts(const CollectivePlan& plan, const std::vector<Case>& cases) {
    std::vector<Verdict> out;
    for (const CollectiveKind kind : kCollectiveKinds) {
        std::vector<const Case*> large;
        std::vector<const Case*> small;
        for (std::size_t i = 0; i < plan.rows.size(); ++i)
            if (plan.rows[i].row->collective == kind)
                (plan.rows[i].row->bytes.value_or(kPeakBytes) >= kLargeFrom ? large : small)
                    .push_back(&cases[i]);
        if (!large.empty())
            out.push_back(
                {fmt::format("{}: mean absolute error from 1 MiB on", to_string(kind)), mape(large),
                 kLarge});
        if (!small.empty())
            out.push_back(
                {fmt::format("{}: mean absolute error below 1 MiB", to_string(kind)), mape(small),
                 kSmall});
    }
    return out;
}

/// Ratio of simulated to measured bandwidth at the largest size, where the links are the limit.
struct Plateau {
    std::uint64_t bytes = 0;
    double share = 1;
};

constexpr std::uint64_t kPlateauFrom = 256ULL << 20U;
constexpr double kSuspect = 0.65;

/// Tables that reach only a fraction of their machine's link bandwidth where links are the limit:
/// the label names another machine, or the machine had a fault. They are reported but stay in all
/// means.
std::vector<std::string> suspects(const CollectivePlan& plan, const std::vector<Case>& cases) {
    std::map<std::string, Plateau> largest;
    std::vector<const Case*> large;
    for (std::size_t i = 0; i < plan.rows.size(); ++i) {
        const std::uint64_t bytes = plan.rows[i].row->bytes.value_or(kPeakBytes);
        Plateau& plateau = largest[cases[i].group];
        if (bytes < std::max(plateau.bytes, kPlateauFrom))
            continue;
        const double over = cases[i].simulated / cases[i].measured;
        plateau = {bytes, cases[i].quantity == "time" ? over : 1 / over};
    }
    std::erase_if(largest, [](const auto& table) { return table.second.share > kSuspect; });
    if (largest.empty())
        return {};
    for (std::size_t i = 0; i < plan.rows.size(); ++i)
        if (plan.rows[i].row->bytes.value_or(kPeakBytes) >= kLargeFrom &&
            !largest.contains(cases[i].group))
            large.push_back(&cases[i]);
    std::vector<std::string> notes;
    for (const auto& [table, plateau] : largest)
        notes.push_back(fmt::format(
            "{}: its label is suspect: at {} it ran at {:.0f} % of what the links of such a "
            "machine carry",
            table, to_string(Bytes(plateau.bytes)), plateau.share * 100));
    notes.push_back(fmt::format(
        "mean absolute error from 1 MiB on without tables of suspect label: {:.1f} %",
        mape(large) * 100));
    return notes;
}

/// The measurements: nccl-tests logs or a table, whichever the user named; otherwise both tables of
/// a folder of measurements.
std::vector<MeasuredRow> measured_rows(
    const std::filesystem::path& data, const SuiteOptions& options,
    std::vector<Unmatched>& unread) {
    std::error_code ignored;
    const bool folder = std::filesystem::is_directory(data, ignored);
    if (folder || is_nccl_log(data)) {
        std::vector<MeasuredRow> rows =
            folder ? read_nccl_log_folder(data) : read_nccl_log_rows(data);
        if (options.system.empty())
            throw ConfigError(
                data.string(), "",
                "is of nccl-tests, which does not say what joins the GPUs; expected --system FILE, "
                "the machine that was measured");
        return rows;
    }
    std::vector<MeasuredRow> rows = read_collective_tables(data, &unread);
    if (options.data && *options.data == data)
        return rows;
    for (const char* const other : {"reference/nccl_collectives.csv", "reference/nccl_issues.csv"})
        if (const auto more = find_data(options, other))
            for (MeasuredRow& row : read_collective_tables(*more, &unread))
                rows.push_back(std::move(row));
    return rows;
}

}  // namespace

SuiteResult run_collectives(const SuiteOptions& options) {
    const Suite& suite = suite_named("collectives");
    const auto data = data_of(suite, options);
    if (!data)
        return skipped(suite);
    SuiteResult result;
    result.name = suite.name;
    const std::vector<MeasuredRow> rows = measured_rows(*data, options, result.unmatched);
    const Machines machines(options.root);
    CollectivePlan plan = plan_collectives(rows, machines, options.system);
    leave_out_rows(plan, [&](const PlannedRow& row) { return why_too_fast(plan, row); });
    const std::vector<Simulated> times = simulate_plan(plan, options);
    leave_out_rows(plan, [&](const PlannedRow& row) { return times[row.run].why; });
    for (const PlannedRow& row : plan.rows)
        result.cases.push_back(collective_case(
            row, plan.runs[row.run], times[row.run], machines.fitted_on(row.row->table)));
    const std::vector<Case> gains = ratios(plan, result.cases);
    result.verdicts = collective_verdicts(plan, result.cases);
    const std::vector<std::string> doubts = suspects(plan, result.cases);
    result.cases.insert(result.cases.end(), gains.begin(), gains.end());
    result.unmatched.insert(result.unmatched.end(), plan.unmatched.begin(), plan.unmatched.end());
    result.notes = std::move(plan.notes);
    result.notes.insert(result.notes.end(), doubts.begin(), doubts.end());
    return result;
}

}  // namespace switchfold::validation
