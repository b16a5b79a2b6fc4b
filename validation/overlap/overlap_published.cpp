// SPDX-License-Identifier: Apache-2.0
#include "validation/overlap/overlap_published.h"

#include "core/any_value.h"
#include "core/csv.h"
#include "core/first_ranks.h"
#include "core/params_reader.h"
#include "sim/machine/beside.h"
#include "sim/machine/likeness.h"
#include "sim/workload/workload.h"
#include "validation/experiments/measured_experiments.h"
#include "validation/experiments/named_places.h"
#include "validation/harness/data.h"
#include "validation/harness/suite_jobs.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold::validation {

namespace {

constexpr std::string_view kPublishedTable = "reference/published_overlap.csv";

constexpr std::string_view kScenes = "validation/maps/published_overlap.json";

/// A kernel as published, with assumptions on it and on the collective.
struct Scene {
    std::string id;
    std::string source;
    std::string alone;
    std::string beside;
    std::map<std::string, AnyValue> set;
    std::uint32_t blocks = 24;
    double share = 0;
    double isolated_us = 0;  ///< by its rows; 0: by its experiment
    double slowdown = 0;
    std::optional<double> low;
    std::optional<double> high;
    std::string assumed;

    static constexpr auto fields() {
        using S = Scene;
        constexpr double kMost = 1e6;
        return list_of(
            field("id", &S::id, "Of its case.").required(),
            field("source", &S::source, "Part of the cell of its rows; empty: no rows are of it."),
            field("alone", &S::alone, "Metric of the row with its time alone."),
            field("beside", &S::beside, "Metric of the row with its time beside a collective."),
            field("set", &S::set, "What its experiment is, by JSON pointer.").required(),
            field("blocks", &S::blocks, "Thread blocks of the collective."),
            field("share", &S::share, "Of the memory's peak that it uses alone.", 0.0, 1.0)
                .required(),
            field("slowdown", &S::slowdown, "Without rows: as measured.", 0.0, kMost),
            field("low", &S::low, "Lower end of that.", 0.0, kMost),
            field("high", &S::high, "Upper end.", 0.0, kMost),
            field("assumed", &S::assumed, "What of this the source does not state.").required());
    }
};

struct Scenes {
    AnyValue experiment;
    std::vector<Scene> scenes;
    static constexpr auto fields() {
        return list_of(
            field("experiment", &Scenes::experiment, "What all scenes begin from.").required(),
            field("scenes", &Scenes::scenes, "Published kernels.").required());
    }
};

/// Parses "0.18 ms" or "4~8 ms" into us, with half a unit of the last digit.
struct Range {
    double low = 0;
    double high = 0;
    double rounding = 0;
};
std::optional<Range> parse_ms(const std::string& text) {
    static const std::regex kTimes(R"(\s*(\d+(?:\.(\d+))?)(?:~(\d+(?:\.(\d+))?))?[^~]*ms.*)");
    std::smatch found;
    if (!std::regex_match(text, found, kTimes))
        return std::nullopt;
    const bool two = found[3].matched;
    const auto decimals = static_cast<double>(found.length(two ? 4 : 2));
    return Range{
        std::stod(found[1].str()) * 1e3, std::stod(found[two ? 3 : 1].str()) * 1e3,
        500 * std::pow(10.0, -decimals)};
}

LoadedExperiment
experiment_of(const Scene& scene, const Json& base, const std::filesystem::path& root) {
    const NamedPlaces places(root, {});
    MeasuredExperiment row;
    row.base = base;
    row.file = root / kScenes;
    for (const auto& [pointer, value] : scene.set)
        row.values.set(pointer, places.placed(value.json), scene.id);
    return load_row(row);
}

constexpr std::uint32_t kRanks = 8;

/// Slowdown of the scene's kernel on its machine while the collective moves data throughout.
double simulate_scene(const Scene& scene, const LoadedExperiment& loaded) {
    const SystemParams& system = *loaded.experiment.system;
    const Loops loops = prepare_workload(loaded).loops.value();
    CollectiveOperation operation = loops.collective;
    operation.thread_blocks = scene.blocks;
    operation.protocol = "simple";
    const CollectiveTraffic traffic = traffic_of(system, operation, first_ranks(kRanks));
    KernelOperation kernel = loops.kernel.front();
    if (scene.isolated_us > 0)
        kernel.isolated = Time(static_cast<std::uint64_t>(scene.isolated_us * 1e6));
    const double bytes = scene.share * static_cast<double>(system.gpu->memory.hbm.peak.count()) *
                         to_seconds(kernel.isolated);
    kernel.bytes_read = Bytes(static_cast<std::uint64_t>(bytes * 2 / 3));
    kernel.bytes_written = Bytes(static_cast<std::uint64_t>(bytes / 3));
    CommunicationPhase phase;
    phase.from_us = -1000;
    phase.to_us = 1e6;
    phase.blocks = scene.blocks;
    phase.threads = system.collectives->simple.threads;
    phase.registers_per_thread = system.collectives->registers_per_thread;
    phase.shared_memory = system.collectives->shared_memory;
    phase.footprint = traffic.footprint;
    phase.bytes_per_second = traffic.bytes_per_second;
    return to_microseconds(simulate_beside(*system.gpu, kernel, {phase})) /
           to_microseconds(kernel.isolated);
}

/// Scenes whose rows are in the table, with the measured values, and those without rows; all other
/// rows become unmatched.
std::vector<Scene> scenes_of(const CsvTable& table, std::vector<Scene> known, SuiteResult& suite) {
    std::vector<Scene> scenes;
    std::set<std::size_t> used;
    const auto find = [&](const Scene& scene, std::string_view metric) -> std::optional<Range> {
        for (const CsvRecord& record : table.records)
            if (record["source"].find(scene.source) != std::string::npos &&
                record["metric"] == metric) {
                used.insert(record.line);
                return parse_ms(record["value"]);
            }
        return std::nullopt;
    };
    for (Scene& scene : known) {
        if (scene.source.empty()) {
            scenes.push_back(std::move(scene));
            continue;
        }
        const auto alone = find(scene, scene.alone);
        const auto beside = find(scene, scene.beside);
        if (!alone || !beside) {
            suite.unmatched.push_back({scene.id, "is not in the table"});
            continue;
        }
        scene.isolated_us = alone->low;
        scene.slowdown = (beside->low + beside->high) / 2 / alone->low;
        // Uncertainty of the published digits: 0.02 ms may be 0.015 or 0.025.
        scene.low = (beside->low - beside->rounding) / (alone->low + alone->rounding);
        scene.high = (beside->high + beside->rounding) / (alone->low - alone->rounding);
        scenes.push_back(std::move(scene));
    }
    for (const CsvRecord& record : table.records)
        if (!used.contains(record.line))
            suite.unmatched.push_back(
                {fmt::format("published_overlap/line {}", record.line),
                 fmt::format(
                     "\"{}\" is no time of a kernel alone and beside a collective",
                     record["metric"].substr(0, 60))});
    return scenes;
}

}  // namespace

void add_published(const SuiteOptions& options, SuiteResult& suite) {
    const auto file = find_data(options, kPublishedTable);
    if (!file) {
        suite.unmatched.push_back(
            {std::string(kPublishedTable), "skipped: " + why_skipped(kPublishedTable)});
        return;
    }
    auto known = read_params_file<Scenes>(options.root / kScenes);
    const std::vector<Scene> scenes = scenes_of(read_csv(*file), std::move(known.scenes), suite);
    std::vector<LoadedExperiment> experiments;
    for (const Scene& scene : scenes)
        experiments.push_back(experiment_of(scene, known.experiment.json, options.root));
    std::vector<Job> jobs;
    for (std::size_t i = 0; i < scenes.size(); ++i)
        jobs.push_back({scenes[i].id, [&scenes, &experiments, i](const JobProgress&) {
                            return value_bytes(simulate_scene(scenes[i], experiments[i]));
                        }});
    const auto simulated = values_of_suite<double>(jobs, options);
    for (std::size_t i = 0; i < scenes.size(); ++i) {
        Case c;
        c.id = scenes[i].id;
        c.group = kPublishedGroup;
        c.quantity = "slowdown";
        c.nothing = 1;
        c.unit = "1";
        c.measured = scenes[i].slowdown;
        c.low = scenes[i].low;
        c.high = scenes[i].high;
        c.simulated = simulated[i];
        const SystemParams& system = *experiments[i].experiment.system;
        c.like = likeness_on(system, "overlap", kRanks);
        c.like.operation = "kernels";
        c.machine = system.name;
        suite.cases.push_back(std::move(c));
        suite.notes.push_back(fmt::format("{}: assumed {}", scenes[i].id, scenes[i].assumed));
    }
}

}  // namespace switchfold::validation
