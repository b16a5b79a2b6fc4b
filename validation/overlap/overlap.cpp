// SPDX-License-Identifier: Apache-2.0
#include "sim/core/json.h"
#include "sim/run/pool/pool.h"
#include "validation/harness/data.h"
#include "validation/machines/machines.h"
#include "validation/overlap/overlap_measured.h"
#include "validation/overlap/overlap_models.h"
#include "validation/overlap/overlap_pairs.h"
#include "validation/overlap/overlap_phases.h"
#include "validation/overlap/overlap_published.h"
#include "validation/replay/trace_folders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace switchfold::validation {

namespace {

constexpr double kWeighted =
    0.10;                         ///< of time-weighted slowdowns, beyond the measurement's interval
constexpr double kClass = 0.15;   ///< of a class's slowdown
constexpr double kMedian = 0.15;  ///< median over kernels that were paired often
constexpr double kPublished = 0.15;
constexpr std::size_t kOften = 5;

/// Execution traces lie beside some traces and hold no times.
bool holds_times(const std::filesystem::path& path) {
    const std::string name = path.filename().string();
    return !name.starts_with("et_") && name.find("_et") == std::string::npos;
}

/// Folders of runs, with the files that hold times.
std::vector<TraceFolder> timed_folders(const std::filesystem::path& data) {
    std::vector<TraceFolder> folders = trace_folders(data);
    for (TraceFolder& folder : folders)
        std::erase_if(folder.files, [](const auto& file) { return !holds_times(file); });
    std::erase_if(folders, [](const TraceFolder& folder) { return folder.files.empty(); });
    return folders;
}

/// What a job sends back.
struct TraceResult {
    std::vector<Case> cases;
    std::vector<Unmatched> unmatched;
    std::vector<std::string> notes;
};

OrderedJson to_bytes(const TraceResult& result) {
    OrderedJson cases = OrderedJson::array();
    for (const Case& c : result.cases)
        cases.push_back(
            {c.id,
             c.group,
             c.measured,
             c.low ? OrderedJson(*c.low) : nullptr,
             c.high ? OrderedJson(*c.high) : nullptr,
             c.simulated,
             c.fitted});
    OrderedJson unmatched = OrderedJson::array();
    for (const Unmatched& u : result.unmatched)
        unmatched.push_back({u.id, u.why});
    return {{"cases", cases}, {"unmatched", unmatched}, {"notes", result.notes}};
}

void add_bytes(const std::string& bytes, SuiteResult& suite) {
    const OrderedJson json = OrderedJson::parse(bytes);
    for (const OrderedJson& c : json["cases"]) {
        Case& one = suite.cases.emplace_back();
        one.id = c[0];
        one.group = c[1];
        one.quantity = "slowdown";
        one.unit = "1";
        one.measured = c[2];
        if (!c[3].is_null())
            one.low = c[3].get<double>();
        if (!c[4].is_null())
            one.high = c[4].get<double>();
        one.simulated = c[5];
        one.fitted = c[6];
    }
    for (const OrderedJson& u : json["unmatched"])
        suite.unmatched.push_back({u[0], u[1]});
    for (const OrderedJson& note : json["notes"])
        suite.notes.push_back(note);
}

std::string_view class_group(KernelClass kernel_class) {
    switch (kernel_class) {
    case KernelClass::kGemmConv:
        return "gemm_conv";
    case KernelClass::kAttention:
        return "attention";
    case KernelClass::kReduction:
        return "reduction";
    case KernelClass::kOther:
        return "other";
    default:
        return "memory_bound";
    }
}

/// Simulates every run of a trace and makes cases of kernels, classes and the whole.
class TraceComparison {
public:
    TraceComparison(const TraceFolder& set, const Machines& machines) :
        set_(set), machines_(machines) {}

    TraceResult run() {
        OverlapTrace trace;
        try {
            trace = read_overlap(set_.files);
        } catch (const ConfigError& error) {
            return skip(fmt::format("cannot be read: {}", error.problems().at(0).message));
        }
        if (trace.groups.empty())
            return skip(
                trace.communication.empty()
                    ? "holds no communication"
                    : "no kernel ran both beside communication and alone in the same place of a "
                      "step");
        const MachineMatch match =
            machines_.find({trace.gpu_name, "", trace.group_size, std::nullopt});
        if (!match.machine)
            return skip(match.why);
        fitted_ = machines_.fitted_on(set_.name) ||
                  (set_.name.starts_with("hta_") && machines_.fitted_on(set_.name.substr(4)));
        simulate_all(trace, match.machine->system);
        return std::move(result_);
    }

private:
    TraceResult skip(const std::string& why) {
        result_.unmatched.push_back({set_.name, why});
        return std::move(result_);
    }

    struct Sum {
        std::vector<const OverlappedRun*> runs;
        double simulated = 0;
        double baseline = 0;
    };
    void add(const std::string& key, const OverlappedRun& run, double simulated_us) {
        Sum& sum = sums_[key];
        sum.runs.push_back(&run);
        sum.simulated += simulated_us;
        sum.baseline += run.baseline_us;
    }

    void simulate_all(const OverlapTrace& trace, const SystemParams& system) {
        const Collectives collectives(system, trace);
        for (const std::string& note : collectives.notes())
            result_.notes.push_back(set_.name + ": " + note);
        for (std::size_t g = 0; g < trace.groups.size(); ++g) {
            const KernelGroup& group = trace.groups[g];
            double measured = 0;
            double simulated = 0;
            double baseline = 0;
            for (const OverlappedRun& run : group.runs) {
                const double us = to_microseconds(
                    simulate_beside(*system.gpu, run.kernel, collectives.beside(run)));
                measured += run.duration_us;
                simulated += us;
                baseline += run.baseline_us;
                const std::string kind = fmt::format(
                    "beside {}", to_string(trace.communication[run.beside].operation.kind));
                const std::string_view part = class_group(group.kernel_class);
                add("all", run, us);
                add(kind, run, us);
                add(fmt::format("class {}", part), run, us);
                add(fmt::format("class {} {}", part, kind), run, us);
            }
            Case c;
            c.group =
                set_.name + (group.runs.size() >= kOften ? " kernels" : " kernels paired rarely");
            c.id =
                fmt::format("{}/kernel {}/{}", set_.name, g, group.kernel.substr(0, kNameLength));
            c.measured = measured / baseline;
            c.simulated = simulated / baseline;
            c.fitted = fitted_;
            result_.cases.push_back(std::move(c));
        }
        for (const auto& [key, sum] : sums_) {
            const WeightedSlowdown measured = weighted(sum.runs);
            Case c;
            c.group = set_.name + (!key.starts_with("class")   ? " time-weighted"
                                   : sum.runs.size() >= kOften ? " classes"
                                                               : " classes paired rarely");
            c.id = fmt::format("{}/{}/{} runs", set_.name, key, sum.runs.size());
            c.measured = measured.slowdown;
            c.low = measured.low;
            c.high = measured.high;
            c.simulated = sum.simulated / sum.baseline;
            c.fitted = fitted_;
            result_.cases.push_back(std::move(c));
        }
    }

    static constexpr std::size_t kNameLength = 80;
    const TraceFolder& set_;
    const Machines& machines_;
    bool fitted_ = false;
    TraceResult result_;
    std::map<std::string, Sum> sums_;
};

/// Relative error beyond the measurement's interval; 0 within.
double beyond(const Case& c) {
    if (c.low && c.high && c.simulated >= *c.low && c.simulated <= *c.high)
        return 0;
    return std::abs(c.error());
}

std::vector<Verdict> verdicts_of(const std::vector<Case>& cases) {
    std::vector<Verdict> verdicts;
    std::vector<double> often;
    for (const Case& c : cases) {
        if (c.group.ends_with(" time-weighted"))
            verdicts.push_back({c.id + ": error beyond the interval", beyond(c), kWeighted});
        else if (c.group.ends_with(" classes") && c.id.find("beside") == std::string::npos)
            verdicts.push_back({c.id + ": error beyond the interval", beyond(c), kClass});
        else if (c.group.ends_with(" kernels"))
            often.push_back(std::abs(c.error()));
        else if (c.group == kPublishedGroup || c.group == kModelsGroup)
            verdicts.push_back({c.id + ": error beyond the interval", beyond(c), kPublished});
    }
    if (!often.empty()) {
        std::sort(often.begin(), often.end());
        verdicts.push_back(
            {fmt::format(
                 "median error of {} kernels paired {} times or more", often.size(), kOften),
             often[often.size() / 2],
             kMedian});
    }
    return verdicts;
}

}  // namespace

SuiteResult run_overlap(const SuiteOptions& options) {
    const Suite& asked = suite_named("overlap");
    const auto data = data_of(asked, options);
    const Machines machines(options.root);
    const std::vector<TraceFolder> sets = data ? timed_folders(*data) : std::vector<TraceFolder>{};
    SuiteResult suite;
    suite.name = asked.name;
    if (!data)
        suite.unmatched.push_back({std::string(asked.data), "skipped: " + why_skipped(asked.data)});
    std::vector<Job> jobs;
    for (const TraceFolder& set : sets)
        jobs.push_back({set.name, [&set, &machines](const JobProgress&) {
                            return to_bytes(TraceComparison(set, machines).run()).dump();
                        }});
    std::vector<std::string> results(jobs.size());
    run_jobs(jobs, options.jobs, options.progress, [&](std::size_t job, const JobResult& result) {
        if (result.code != ExitCode::kDone)
            rethrow(jobs[job], result);
        results[job] = result.bytes;
    });
    for (const std::string& bytes : results)
        add_bytes(bytes, suite);
    add_published(options, suite);
    add_models(options, suite);
    add_measured(options.root / kMeasuredContention, options, suite);
    suite.verdicts = verdicts_of(suite.cases);
    return suite;
}

}  // namespace switchfold::validation
