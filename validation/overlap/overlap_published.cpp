// SPDX-License-Identifier: Apache-2.0
#include "validation/overlap/overlap_published.h"

#include "core/csv.h"
#include "sim/config/load.h"
#include "sim/machine/beside.h"
#include "sim/machine/likeness.h"
#include "validation/harness/data.h"
#include "validation/harness/suite_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

namespace switchfold::validation {

namespace {

constexpr std::string_view kPublishedTable = "reference/published_overlap.csv";

/// A kernel as published, with assumptions on it and on the collective.
struct Scene {
    std::string_view id;
    std::string_view system;  ///< in configs/systems
    std::string_view gpu;     ///< in configs/systems/gpus, replaces the system's GPU; may be empty
    CollectiveKind kind = CollectiveKind::kAllReduce;
    std::uint32_t blocks = 24;
    std::uint32_t threads = 128;
    std::uint32_t registers = 32;
    std::uint64_t shared_kib = 0;
    std::uint64_t grid = 1;
    double share = 0;  ///< share of the peak HBM bandwidth that the kernel uses alone
    double isolated_us = 0;
    double slowdown = 0;
    std::optional<double> low;
    std::optional<double> high;
    std::string_view assumed;
    double power_drop = 0;
};

/// The pair of table rows that a scene represents: metrics without and with overlap, in ms.
struct RowPair {
    std::string_view source;
    std::string_view alone;
    std::string_view beside;
    Scene scene;
};

const std::array<RowPair, 4>& pairs() {
    static const std::array<RowPair, 4> kPairs{{
        {"nccl/issues/1428",
         "attention kernel without overlap",
         "attention kernel with overlap",
         {"nccl#1428/attention",
          "dgx_a100.json",
          "gpus/a100_80gb.json",
          CollectiveKind::kAllGather,
          24,
          128,
          255,
          80,
          1024,
          0.35,
          0,
          0,
          {},
          {},
          "1,024 blocks of 128 threads with 80 KiB, two an SM"}},
        {"nccl/issues/1428",
         "GEMM kernel without overlap",
         "GEMM kernel with overlap",
         {"nccl#1428/gemm",
          "dgx_a100.json",
          "gpus/a100_80gb.json",
          CollectiveKind::kAllGather,
          24,
          256,
          230,
          144,
          2048,
          0.35,
          0,
          0,
          {},
          {},
          "2,048 blocks of 256 threads with 144 KiB, one an SM"}},
        {"nccl/issues/1428",
         "elementwise kernel without overlap",
         "elementwise kernel with overlap",
         {"nccl#1428/elementwise",
          "dgx_a100.json",
          "gpus/a100_80gb.json",
          CollectiveKind::kAllGather,
          24,
          128,
          20,
          0,
          8192,
          0.8,
          0,
          0,
          {},
          {},
          "8,192 blocks of 128 threads at 80 % of the memory's peak"}},
        {"nccl/issues/338",
         "batch-norm backward kernel not overlapped",
         "batch-norm backward kernel overlapped with NCCL all-reduce",
         {"nccl#338/batch_norm_backward",
          "dgx1_v100.json",
          "",
          CollectiveKind::kAllReduce,
          16,
          512,
          40,
          0,
          4096,
          0.8,
          0,
          0,
          {},
          {},
          "the GPU is not stated, taken as V100; 4,096 blocks of 512 threads at 80 % of the "
          "memory's peak"}},
    }};
    return kPairs;
}

/// NVIDIA developer forum, thread 337991: a GEMM of one wave beside an all-gather.
Scene forum_scene() {
    return {
        "forum 337991/132 blocks beside 24",
        "hgx_h100.json",
        "",
        CollectiveKind::kAllGather,
        24,
        384,
        168,
        200,
        132,
        0.35,
        500,
        1.8,
        1.7,
        1.9,
        "a persistent GEMM of 132 blocks with 200 KiB and 500 us; model FLOPs utilisation fell "
        "from 80 to 47 %; under a full load the clock is a quarter below its most: products reach "
        "794 of the 989 TFLOP/s of 1,830 MHz, which takes 1,470 MHz at least, and 1,980 is the "
        "most",
        0.25};
}

/// Parses "0.18 ms" or "4~8 ms" into us, with half a unit of the last digit.
struct Range {
    double low = 0;
    double high = 0;
    double rounding = 0;
};
std::optional<Range> parse_ms(std::string_view text) {
    Range range;
    const auto read = [&](std::string_view part) -> std::optional<double> {
        double value = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
        if (error != std::errc{})
            return std::nullopt;
        const std::string_view digits(part.data(), end);
        const std::size_t point = digits.find('.');
        const std::size_t decimals =
            point == std::string_view::npos ? 0 : digits.size() - point - 1;
        range.rounding = 500 * std::pow(10.0, -static_cast<double>(decimals));
        return value * 1e3;
    };
    const std::size_t tilde = text.find('~');
    const auto low = read(text);
    const auto high = tilde == std::string_view::npos ? low : read(text.substr(tilde + 1));
    if (!low || !high || text.find("ms") == std::string_view::npos)
        return std::nullopt;
    range.low = *low;
    range.high = *high;
    return range;
}

SystemParams system_of(const Scene& scene, const std::filesystem::path& root) {
    std::vector<Override> overrides;
    if (!scene.gpu.empty())
        overrides.push_back({"/gpu", std::string(scene.gpu)});
    if (scene.power_drop > 0)
        overrides.push_back({"/gpu/power_drop", scene.power_drop});
    return load_system(root / "configs/systems" / scene.system, overrides);
}

constexpr std::uint32_t kRanks = 8;

/// Slowdown of the scene's kernel on its machine while the collective moves data throughout.
double simulate_scene(const Scene& scene, const SystemParams& system) {
    CollectiveOperation operation;
    operation.kind = scene.kind;
    operation.bytes = mebibytes(256);
    operation.thread_blocks = scene.blocks;
    operation.protocol = "simple";
    const CollectiveTraffic traffic = traffic_of(system, operation, kRanks);
    KernelOperation kernel;
    kernel.grid = {static_cast<std::uint32_t>(scene.grid), 1, 1};
    kernel.block = {scene.threads, 1, 1};
    kernel.registers_per_thread = scene.registers;
    kernel.shared_memory = kibibytes(scene.shared_kib);
    kernel.isolated = Time(static_cast<std::uint64_t>(scene.isolated_us * 1e6));
    const double bytes = scene.share * static_cast<double>(system.gpu->memory.hbm.peak.count()) *
                         scene.isolated_us * 1e-6;
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
    return to_microseconds(simulate_beside(*system.gpu, kernel, {phase})) / scene.isolated_us;
}

/// Scenes whose rows are in the table, with the measured values; all other rows become unmatched.
std::vector<Scene> scenes_of(const CsvTable& table, SuiteResult& suite) {
    std::vector<Scene> scenes;
    std::map<std::size_t, bool> used;
    const auto find = [&](const RowPair& pair, std::string_view metric) -> std::optional<Range> {
        for (const CsvRecord& record : table.records)
            if (record["source"].find(pair.source) != std::string::npos &&
                record["metric"] == metric) {
                used[record.line] = true;
                return parse_ms(record["value"]);
            }
        return std::nullopt;
    };
    for (const RowPair& pair : pairs()) {
        Scene scene = pair.scene;
        const auto alone = find(pair, pair.alone);
        const auto beside = find(pair, pair.beside);
        if (!alone || !beside) {
            suite.unmatched.push_back({std::string(scene.id), "is not in the table"});
            continue;
        }
        scene.isolated_us = alone->low;
        scene.slowdown = (beside->low + beside->high) / 2 / alone->low;
        // Uncertainty of the published digits: 0.02 ms may be 0.015 or 0.025.
        scene.low = (beside->low - beside->rounding) / (alone->low + alone->rounding);
        scene.high = (beside->high + beside->rounding) / (alone->low - alone->rounding);
        scenes.push_back(scene);
    }
    for (const CsvRecord& record : table.records)
        if (!used.contains(record.line))
            suite.unmatched.push_back(
                {fmt::format("published_overlap/line {}", record.line),
                 fmt::format(
                     "\"{}\" is no time of a kernel alone and beside a collective",
                     record["metric"].substr(0, 60))});
    scenes.push_back(forum_scene());
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
    const std::vector<Scene> scenes = scenes_of(read_csv(*file), suite);
    std::vector<SystemParams> systems;
    for (const Scene& scene : scenes)
        systems.push_back(system_of(scene, options.root));
    std::vector<Job> jobs;
    for (std::size_t i = 0; i < scenes.size(); ++i)
        jobs.push_back({std::string(scenes[i].id), [&scenes, &systems, i](const JobProgress&) {
                            return value_bytes(simulate_scene(scenes[i], systems[i]));
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
        c.like = likeness_on(systems[i], "overlap", kRanks);
        c.like.operation = "kernels";
        c.machine = systems[i].name;
        suite.cases.push_back(std::move(c));
        suite.notes.push_back(fmt::format("{}: assumed {}", scenes[i].id, scenes[i].assumed));
    }
}

}  // namespace switchfold::validation
