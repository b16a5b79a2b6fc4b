// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/likeness.h"
#include "validation/harness/data.h"
#include "validation/machines/machines.h"
#include "validation/overlap/overlap_loops.h"
#include "validation/overlap/overlap_measured.h"
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

constexpr std::size_t kOften = 5;  ///< pairs of a kernel that is judged apart

/// Excludes execution traces, which lie beside some traces and hold no times.
bool holds_times(const std::filesystem::path& path) {
    const std::string name = path.filename().string();
    return may_be_kineto(path) && !name.starts_with("et_") && name.find("_et") == std::string::npos;
}
constexpr FileKind kTimedFiles{holds_times, kKinetoFiles.what};

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

/// "gemm_conv" of "class gemm_conv beside all_reduce"; "kernels" of sums over all classes. Single
/// kernels ran too rarely to be of any.
std::string operation_of(std::string_view key) {
    constexpr std::string_view kClass = "class ";
    if (!key.starts_with(kClass))
        return "kernels";
    key.remove_prefix(kClass.size());
    return std::string(key.substr(0, key.find(' ')));
}

/// Simulates every run of a trace and forms cases of kernels, classes and the whole.
class TraceComparison {
public:
    TraceComparison(const TraceFolder& set, const Machines& machines) :
        set_(set), machines_(machines) {}

    SuiteResult run() {
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
        like_ = likeness_on(match.machine->system, "overlap", trace.group_size);
        machine_ = match.machine->system.name;
        simulate_all(trace, match.machine->system);
        return std::move(result_);
    }

private:
    SuiteResult skip(const std::string& why) {
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
            Case c = slowdown_case();
            c.group =
                set_.name + (group.runs.size() >= kOften ? " kernels" : " kernels paired rarely");
            c.id =
                fmt::format("{}/kernel {}/{}", set_.name, g, group.kernel.substr(0, kNameLength));
            c.measured = measured / baseline;
            c.simulated = simulated / baseline;
            result_.cases.push_back(std::move(c));
        }
        for (const auto& [key, sum] : sums_) {
            const WeightedSlowdown measured = weighted(sum.runs);
            Case c = slowdown_case();
            c.group = set_.name + (!key.starts_with("class")   ? " time-weighted"
                                   : sum.runs.size() >= kOften ? " classes"
                                                               : " classes paired rarely");
            c.id = fmt::format("{}/{}/{} runs", set_.name, key, sum.runs.size());
            c.measured = measured.slowdown;
            c.low = measured.low;
            c.high = measured.high;
            c.simulated = sum.simulated / sum.baseline;
            c.like = like_;
            c.like.operation = operation_of(key);
            c.machine = machine_;
            result_.cases.push_back(std::move(c));
        }
    }

    [[nodiscard]] Case slowdown_case() const {
        Case c;
        c.quantity = "slowdown";
        c.nothing = 1;
        c.unit = "1";
        c.fitted = fitted_;
        return c;
    }

    static constexpr std::size_t kNameLength = 80;
    const TraceFolder& set_;
    const Machines& machines_;
    bool fitted_ = false;
    intervals::Likeness like_;
    std::string machine_;
    SuiteResult result_;
    std::map<std::string, Sum> sums_;
};

}  // namespace

SuiteResult run_overlap(const SuiteOptions& options) {
    const Suite& asked = suite_named("overlap");
    const auto data = data_of(asked, options);
    SuiteResult suite;
    if (!data)
        suite.unmatched.push_back({std::string(asked.data), "skipped: " + why_skipped(asked.data)});
    else if (!trace_folders(*data, kTimedFiles).empty())
        suite = run_folders(
            asked, options, kTimedFiles,
            [](const TraceFolder& set, const Machines& machines, const JobProgress&) {
                return TraceComparison(set, machines).run();
            });
    suite.name = asked.name;
    add_published(options, suite);
    add_loops(options, suite);
    // Steps of which the abstract alone is public.
    for (const char* const which : {"mean", "largest"})
        suite.unmatched.push_back(
            {fmt::format("arXiv 2507.03114/{} slowdown", which),
             "states neither sequences nor batches of its steps"});
    add_measured(options.root / kMeasuredContention, options, suite);
    return suite;
}

}  // namespace switchfold::validation
