// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/trace/never_alone.h"

#include "core/error.h"
#include "sim/machine/phases_beside.h"
#include "sim/machine/system_queries.h"
#include "sim/pool/value_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace switchfold {

namespace {

using Spans = BigVector<TraceWorkload::Measured>;

/// Below this share of the kernels' time no figure of the step changes by as much as its digits.
constexpr double kLeastShare = 0.01;

const KernelOperation* never_alone(const Operation& operation) {
    const auto* const kernel = std::get_if<KernelOperation>(&operation.body);
    return kernel != nullptr && kernel->duration_source == DurationSource::kMeasuredOverlapped &&
                   kernel->measured > Time()
               ? kernel
               : nullptr;
}

const CollectiveOperation* collective_of(const Operation& operation) {
    return std::get_if<CollectiveOperation>(&operation.body);
}

/// Collectives that draw alike.
struct DrawnShape {
    CollectiveKind kind;
    std::uint64_t bytes;
    std::vector<std::uint32_t> ranks;  ///< as those of the first machine that stand alike
    std::uint32_t blocks;
    std::uint32_t threads;
    std::uint32_t exchange;
    auto operator<=>(const DrawnShape&) const = default;
};

/// Kernels that are slowed alike beside collectives: launch, bytes and duration, and when each
/// shape of collective is there, in sixteenths of the kernel.
struct SceneKey {
    const GpuParams* gpu;
    std::vector<std::uint64_t> launch;
    std::vector<std::tuple<std::size_t, int, int, int, int>> beside;
    auto operator<=>(const SceneKey&) const = default;
};
struct Scene {
    const GpuParams* gpu;
    KernelOperation kernel;
    std::vector<CommunicationPhase> phases;
};

/// The same number for values within a tenth.
std::uint64_t coarse(std::uint64_t value) {
    constexpr double kParts = 8;  // of an octave
    return value == 0 ? 0
                      : static_cast<std::uint64_t>(
                            1 + std::llround(kParts * std::log2(static_cast<double>(value))));
}

/// Duration beside the scene's collectives of the kernel that takes `share` of its traced one
/// alone, as a share of that.
double beside_share(const Scene& scene, double share) {
    KernelOperation kernel = scene.kernel;
    kernel.isolated =
        Time(static_cast<std::uint64_t>(share * static_cast<double>(kernel.measured.count())));
    return to_seconds(simulate_beside(*scene.gpu, kernel, scene.phases)) /
           to_seconds(scene.kernel.measured);
}

/// Share of its traced duration that a kernel takes alone: between shares that give too little and
/// too much, found by their line and, since blocks that wait for a second wave make a step, by
/// halves.
double alone_share(const Scene& scene) {
    constexpr int kTries = 8;
    constexpr double kNear = 0.01;
    double low = 0;
    double high = 1;
    double of_low = 0;
    double of_high = beside_share(scene, high);
    double best = high;
    double of_best = of_high;
    for (int i = 0; i < kTries && std::abs(of_best - 1) > kNear && of_high > 1; ++i) {
        const double on_line = low + (high - low) * (1 - of_low) / (of_high - of_low);
        const double share = i % 2 == 0 ? on_line : (low + high) / 2;
        const double of_share = beside_share(scene, share);
        if (std::abs(of_share - 1) < std::abs(of_best - 1)) {
            best = share;
            of_best = of_share;
        }
        if (std::abs(of_share - 1) < kNear)
            break;
        (of_share < 1 ? low : high) = share;
        (of_share < 1 ? of_low : of_high) = of_share;
    }
    return best;
}

class Solver {
public:
    Solver(
        const SystemParams& traced_on, ExecutionGraph& graph, const std::vector<Spans>& measured,
        const TracedRankOf& rank_of, const SimulateOptions& options, const RunJobs& run) :
        traced_on_(traced_on),
        machine_gpus_(gpus_of_machine(traced_on)),
        graph_(graph),
        measured_(measured),
        rank_of_(rank_of),
        options_(options),
        run_(run) {}

    NeverAlone solve() {
        const NeverAlone none = count();
        if (none.share < kLeastShare)
            return none;
        measure_draws();
        find_scenes();
        solve_scenes();
        set();
        NeverAlone all = none;
        all.alone = alone_;
        all.solved = true;
        return all;
    }

private:
    struct Found {
        std::uint32_t operation;
        std::size_t scene;
    };
    struct Rank {
        std::shared_ptr<const RankGraph> graph;
        TracedRank traced;
        std::vector<Found> found;
    };

    /// Ranks share their graphs: each once. Those that others stand for, or that have no GPU here,
    /// do nothing.
    NeverAlone count() {
        NeverAlone all;
        double kernels = 0;
        double never = 0;
        for (std::uint32_t r = 0; r < graph_.ranks.size(); ++r) {
            if (graph_.ranks[r]->operations.empty())
                continue;
            const auto [at, fresh] = index_.try_emplace(graph_.ranks[r].get(), ranks_.size());
            if (!fresh)
                continue;
            ranks_.push_back({graph_.ranks[r], rank_of_(r), {}});
            for (const Operation& operation : graph_.ranks[r]->operations) {
                if (const auto* kernel = std::get_if<KernelOperation>(&operation.body))
                    kernels += to_seconds(kernel->measured);
                if (const KernelOperation* kernel = never_alone(operation)) {
                    never += to_seconds(kernel->measured);
                    all.traced += kernel->measured;
                    ++all.kernels;
                }
            }
        }
        all.alone = all.traced;
        all.share = kernels > 0 ? never / kernels : 0;
        return all;
    }

    [[nodiscard]] DrawnShape shape_of(const CollectiveOperation& collective) const {
        DrawnShape shape{collective.kind,
                         collective.bytes.count(),
                         graph_.groups[collective.group].ranks,
                         collective.thread_blocks,
                         collective.threads_per_block,
                         collective.exchange};
        const std::uint32_t machine = shape.ranks.front() / machine_gpus_ * machine_gpus_;
        for (std::uint32_t& rank : shape.ranks)
            rank -= machine;
        return shape;
    }

    /// What a shape draws, and its number.
    struct Drawn {
        std::size_t index = 0;
        CommunicationDraw draw;
        CollectiveOperation kernel;  ///< with its blocks
    };

    /// What takes its traced time, or has no bytes, holds its blocks and draws nothing. Where the
    /// trace does not say how many it has, it has those that the library chooses.
    void measure_draws() {
        std::map<DrawnShape, CollectiveOperation> moving;
        for (const Rank& rank : ranks_)
            for (const Operation& operation : rank.graph->operations)
                if (const CollectiveOperation* collective = collective_of(operation)) {
                    const DrawnShape shape = shape_of(*collective);
                    draws_.try_emplace(shape, Drawn{draws_.size(), {}, *collective});
                    if (collective->bytes.count() > 0 && collective->given == Time() &&
                        shape.ranks.size() > 1)
                        moving.try_emplace(shape, *collective);
                }
        std::vector<Job> jobs;
        for (const auto& [shape, collective] : moving)
            jobs.push_back(
                {fmt::format(
                     "alone: the trace's {} of {} over {} ranks, simulated alone to tell what it "
                     "drew beside kernels",
                     to_string(shape.kind), to_string(collective.bytes), shape.ranks.size()),
                 [this, ranks = shape.ranks, collective](const JobProgress& progress) {
                     SimulateOptions told = options_;
                     told.progress = progress;
                     const UnevenExchange* parts =
                         collective.exchange != 0 ? &graph_.exchanges.at(collective.exchange - 1)
                                                  : nullptr;
                     return value_bytes(traced_traffic(traced_on_, collective, ranks, told, parts));
                 },
                 static_cast<double>(collective.bytes.count())});
        const std::vector<CollectiveTraffic> traffic = values_of<CollectiveTraffic>(jobs, run_);
        std::size_t job = 0;
        for (const auto& [shape, collective] : moving) {
            const CollectiveTraffic& told = traffic[job++];
            Drawn& drawn = draws_.at(shape);
            drawn.draw = {to_microseconds(told.time), told.bytes_per_second, told.footprint};
            add_blocks(told, drawn.kernel);
        }
    }

    /// Threads are the library's in every replay.
    static void add_blocks(const CollectiveTraffic& told, CollectiveOperation& kernel) {
        kernel.threads_per_block = told.threads;
        if (kernel.thread_blocks == 0)
            kernel.thread_blocks = told.blocks;
        if (kernel.registers_per_thread == 0)
            kernel.registers_per_thread = told.registers_per_thread;
        if (kernel.shared_memory == Bytes())
            kernel.shared_memory = told.shared_memory;
    }

    void find_scenes() {
        for (Rank& rank : ranks_) {
            const Spans& spans = measured_.at(rank.traced.file);
            SWITCHFOLD_CHECK(
                spans.size() == rank.graph->operations.size(),
                "a rank has other operations than its trace");
            find_scenes(rank, spans);
        }
    }

    void find_scenes(Rank& rank, const Spans& spans) {
        const auto& operations = rank.graph->operations;
        std::vector<std::uint32_t> collectives;  // by begin
        Time longest;
        for (std::uint32_t i = 0; i < operations.size(); ++i)
            if (collective_of(operations[i]) != nullptr) {
                collectives.push_back(i);
                longest = std::max(longest, spans[i].end - spans[i].start);
            }
        std::stable_sort(collectives.begin(), collectives.end(), [&](auto a, auto b) {
            return spans[a].start < spans[b].start;
        });
        for (std::uint32_t i = 0; i < operations.size(); ++i) {
            const KernelOperation* const kernel = never_alone(operations[i]);
            if (kernel == nullptr)
                continue;
            SceneKey key{rank.traced.gpu, launch_of(*kernel), {}};
            std::vector<CommunicationPhase> phases;
            const Time start = spans[i].start;
            const Time since = start > longest ? start - longest : Time();
            auto at = std::lower_bound(
                collectives.begin(), collectives.end(), since,
                [&](std::uint32_t c, Time from) { return spans[c].start < from; });
            for (; at != collectives.end() && spans[*at].start < spans[i].end; ++at)
                if (spans[*at].end > start)
                    add_beside(
                        *collective_of(operations[*at]), spans[*at], start, *kernel, key, phases);
            if (phases.empty())
                continue;
            const auto [scene, fresh] = scene_of_.try_emplace(std::move(key), scenes_.size());
            if (fresh)
                scenes_.push_back({rank.traced.gpu, *kernel, std::move(phases)});
            rank.found.push_back({i, scene->second});
        }
    }

    static std::vector<std::uint64_t> launch_of(const KernelOperation& kernel) {
        return {
            kernel.grid.count(),
            kernel.block.count(),
            kernel.registers_per_thread,
            kernel.shared_memory.count(),
            coarse(kernel.bytes_read.count() + kernel.bytes_written.count()),
            coarse(kernel.measured.count())};
    }

    void add_beside(
        const CollectiveOperation& collective, const TraceWorkload::Measured& span, Time start,
        const KernelOperation& kernel, SceneKey& key,
        std::vector<CommunicationPhase>& phases) const {
        const auto relative = [&](Time time) {
            return to_microseconds(time) - to_microseconds(start);
        };
        const std::size_t before = phases.size();
        const DrawnShape shape = shape_of(collective);
        const Drawn& drawn = draws_.at(shape);
        add_phases(
            drawn.kernel, drawn.draw,
            static_cast<std::uint32_t>(std::max<std::size_t>(2, shape.ranks.size())),
            relative(span.start), relative(span.end), phases);
        const double grain = to_microseconds(kernel.measured) / 16;
        const auto place = [&](double us) {
            return static_cast<int>(std::lround(std::clamp(us / grain, -2.0, 34.0)));
        };
        for (std::size_t i = before; i < phases.size(); ++i)
            key.beside.emplace_back(
                drawn.index, static_cast<int>(phases[i].blocks),
                phases[i].bytes_per_second > 0 ? 1 : 0, place(phases[i].from_us),
                place(phases[i].to_us));
    }

    void solve_scenes() {
        constexpr std::size_t kScenes = 64;  // a job
        std::vector<Job> jobs;
        for (std::size_t first = 0; first < scenes_.size(); first += kScenes) {
            const std::size_t last = std::min(scenes_.size(), first + kScenes);
            jobs.push_back(
                {fmt::format(
                     "alone: {} kernels that never ran alone, simulated beside what ran beside "
                     "them",
                     last - first),
                 [this, first, last](const JobProgress& /*progress*/) {
                     std::vector<double> shares;
                     for (std::size_t i = first; i < last; ++i)
                         shares.push_back(alone_share(scenes_[i]));
                     return value_bytes(shares);
                 },
                 static_cast<double>(last - first)});
        }
        for (const std::vector<double>& part : values_of<std::vector<double>>(jobs, run_))
            shares_.insert(shares_.end(), part.begin(), part.end());
    }

    void set() {
        std::vector<std::shared_ptr<const RankGraph>> changed;
        for (const Rank& rank : ranks_) {
            if (rank.found.empty()) {
                changed.push_back(rank.graph);
                continue;
            }
            auto after = std::make_shared<RankGraph>(*rank.graph);
            for (const Found& found : rank.found) {
                auto& kernel = std::get<KernelOperation>(after->operations[found.operation].body);
                kernel.isolated = Time(static_cast<std::uint64_t>(
                    static_cast<double>(kernel.measured.count()) * shares_[found.scene]));
            }
            changed.push_back(std::move(after));
        }
        for (auto& rank : graph_.ranks)
            if (!rank->operations.empty())
                rank = changed[index_.at(rank.get())];
        for (const auto& rank : changed)
            for (const Operation& operation : rank->operations)
                if (const KernelOperation* kernel = never_alone(operation))
                    alone_ += kernel->isolated;
    }

    const SystemParams& traced_on_;
    std::uint32_t machine_gpus_;
    ExecutionGraph& graph_;
    const std::vector<Spans>& measured_;
    const TracedRankOf& rank_of_;
    const SimulateOptions& options_;
    const RunJobs& run_;
    std::vector<Rank> ranks_;
    std::map<const RankGraph*, std::size_t> index_;
    std::map<DrawnShape, Drawn> draws_;
    std::vector<Scene> scenes_;
    std::map<SceneKey, std::size_t> scene_of_;
    std::vector<double> shares_;  ///< by scene
    Time alone_;
};

}  // namespace

NeverAlone set_never_alone(
    const SystemParams& traced_on, ExecutionGraph& graph,
    const std::vector<BigVector<TraceWorkload::Measured>>& measured, const TracedRankOf& rank_of,
    const SimulateOptions& options, const RunJobs& run) {
    return Solver(traced_on, graph, measured, rank_of, options, run).solve();
}

}  // namespace switchfold
