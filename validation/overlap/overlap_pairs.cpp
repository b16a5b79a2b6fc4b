// SPDX-License-Identifier: Apache-2.0
#include "validation/overlap/overlap_pairs.h"

#include "core/random_stream.h"
#include "workloads/readers/kineto/reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace switchfold::validation {

namespace {

constexpr double kBeside = 0.9;      ///< least share of a run beside communication
constexpr double kShortestUs = 3.0;  ///< the clock's resolution is too coarse below
constexpr std::uint64_t kMaxInflated = 64ULL << 30U;

/// One run of any compute kernel.
struct RunOfPairs {
    OverlappedRun run;
    double share = 0;  ///< of the run beside communication
    std::optional<std::uint32_t> step;
};

std::uint64_t device_of(const RawTrace& raw, const RawGpuEvent& gpu) {
    return raw.streams[gpu.stream].device;
}

double us(std::uint64_t ps) {
    return static_cast<double>(ps) * 1e-6;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

class PairsReader {
public:
    OverlapTrace read(const std::vector<std::filesystem::path>& files) {
        for (std::size_t i = 0; i < files.size(); ++i)
            add_file(files[i], i);
        pair();
        return std::move(trace_);
    }

private:
    void add_file(const std::filesystem::path& path, std::size_t file) {
        RawTrace raw = read_raw_trace(path, kMaxInflated);
        ExecutionGraph shared;
        NameTable names;
        const BuiltRank built = build_rank(raw, names, shared);
        if (file == 0)
            trace_.gpu_name = raw.report.gpu_name;
        for (const Group& group : shared.groups)
            trace_.group_size =
                std::max(trace_.group_size, static_cast<std::uint32_t>(group.ranks.size()));
        add_events(raw, *built.graph, file);
    }

    void add_events(const RawTrace& raw, const RankGraph& graph, std::size_t file) {
        // The graph's GPU operations correspond to the raw events in order, with host operations in
        // between.
        std::vector<std::uint32_t> operations;
        for (std::uint32_t i = 0; i < graph.operations.size(); ++i)
            if (graph.streams[graph.operations[i].stream].kind == StreamKind::kGpu)
                operations.push_back(i);
        std::map<std::uint64_t, BigVector<Interval>> resident;  // by device
        const std::size_t first = trace_.communication.size();
        for (std::size_t i = 0; i < raw.gpu.size(); ++i)
            if (raw.gpu[i].work == GpuWork::kCommunication) {
                const RawGpuEvent& gpu = raw.gpu[i];
                resident[device_of(raw, gpu)].push_back({gpu.start, gpu.end()});
                add_communication(raw, raw.gpu[i], graph.operations[operations[i]], file);
            }
        for (auto& [device, intervals] : resident)
            merge_intervals(intervals);
        // Ordinals within a step follow the order of starts.
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < raw.gpu.size(); ++i)
            if (raw.gpu[i].work == GpuWork::kKernel && raw.gpu[i].duration > 0)
                order.push_back(i);
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return raw.gpu[a].start < raw.gpu[b].start;
        });
        std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> places;
        for (const std::size_t i : order) {
            const RawGpuEvent& gpu = raw.gpu[i];
            const auto* kernel =
                std::get_if<KernelOperation>(&graph.operations[operations[i]].body);
            if (kernel == nullptr)
                continue;
            const std::string key = identity_of(raw, gpu);
            RunOfPairs run;
            run.step = step_of(raw, gpu);
            if (run.step)
                run.run.ordinal = places[{key, *run.step}]++;
            run.run.file = file;
            run.run.device = device_of(raw, gpu);
            run.run.start_us = us(gpu.start);
            run.run.duration_us = us(gpu.duration);
            run.share =
                static_cast<double>(covered(resident[run.run.device], gpu.start, gpu.end())) /
                static_cast<double>(gpu.duration);
            run.run.beside = most_beside(run.run, first);
            run.run.operation = operations[i];
            run.run.kernel = *kernel;
            auto [at, fresh] = runs_.try_emplace(key);
            if (fresh) {
                order_.push_back(key);
                at->second.group.kernel = raw.name_of(gpu);
                at->second.group.op = raw.operator_of(gpu);
                at->second.group.kernel_class = kernel->kernel_class;
            }
            at->second.runs.push_back(std::move(run));
        }
    }

    void add_communication(
        const RawTrace& raw, const RawGpuEvent& gpu, const Operation& operation, std::size_t file) {
        const auto* collective = std::get_if<CollectiveOperation>(&operation.body);
        CommunicationKernelSeen seen;
        seen.file = file;
        seen.device = device_of(raw, gpu);
        seen.start_us = us(gpu.start);
        seen.end_us = us(gpu.end());
        seen.step = step_of(raw, gpu).value_or(UINT32_MAX);
        if (collective != nullptr)
            seen.operation = *collective;
        const auto& o = seen.operation;
        seen.ordinal = communication_places_[{
            file, seen.step, o.kind, o.thread_blocks, o.threads_per_block}]++;
        trace_.communication.push_back(std::move(seen));
    }

    [[nodiscard]] static std::optional<std::uint32_t>
    step_of(const RawTrace& raw, const RawGpuEvent& gpu) {
        if (!gpu.has_launch)
            return std::nullopt;
        std::optional<std::uint32_t> step;
        for (std::size_t i = 0; i < raw.steps.size() && raw.steps[i].start <= gpu.launch; ++i)
            step = gpu.launch < raw.steps[i].end ? std::optional(static_cast<std::uint32_t>(i))
                                                 : std::nullopt;
        return step;
    }

    [[nodiscard]] std::size_t most_beside(const OverlappedRun& run, std::size_t first) const {
        double most = 0;
        std::size_t found = SIZE_MAX;
        for (std::size_t i = first; i < trace_.communication.size(); ++i) {
            const CommunicationKernelSeen& c = trace_.communication[i];
            const double shared = std::min(c.end_us, run.start_us + run.duration_us) -
                                  std::max(c.start_us, run.start_us);
            if (c.device == run.device && shared > most) {
                most = shared;
                found = i;
            }
        }
        return found;
    }

    void pair() {
        for (const std::string& key : order_) {
            Seen& seen = runs_.at(key);
            std::map<std::pair<std::size_t, std::uint32_t>, std::size_t> counts;
            for (const RunOfPairs& run : seen.runs)
                if (run.step)
                    ++counts[{run.run.file, *run.step}];
            std::set<std::size_t> different;
            for (const auto& [step, count] : counts)
                different.insert(count);
            if (counts.size() < 2 || different.size() != 1)
                continue;
            std::map<std::uint32_t, std::vector<double>> alone;
            for (const RunOfPairs& run : seen.runs)
                if (run.step && run.share <= 0)
                    alone[run.run.ordinal].push_back(run.run.duration_us);
            for (RunOfPairs& run : seen.runs) {
                const auto base = alone.find(run.run.ordinal);
                if (!run.step || run.share < kBeside || base == alone.end())
                    continue;
                run.run.baseline_us = median(base->second);
                run.run.alone_runs = base->second.size();
                if (run.run.baseline_us < kShortestUs || run.run.beside == SIZE_MAX)
                    continue;
                run.run.kernel.isolated =
                    Time(static_cast<std::uint64_t>(run.run.baseline_us * 1e6));
                run.run.group = trace_.groups.size();
                seen.group.runs.push_back(std::move(run.run));
            }
            if (!seen.group.runs.empty())
                trace_.groups.push_back(std::move(seen.group));
        }
    }

    struct Seen {
        KernelGroup group;
        std::vector<RunOfPairs> runs;
    };
    OverlapTrace trace_;
    std::map<std::string, Seen> runs_;
    std::vector<std::string> order_;
    std::map<
        std::tuple<std::size_t, std::uint32_t, CollectiveKind, std::uint32_t, std::uint32_t>,
        std::uint32_t>
        communication_places_;
};

}  // namespace

OverlapTrace read_overlap(const std::vector<std::filesystem::path>& files) {
    return PairsReader().read(files);
}

WeightedSlowdown weighted(const std::vector<const OverlappedRun*>& runs) {
    // A kernel at its place in the step is one draw, however often it ran.
    struct Sums {
        double measured = 0;
        double baseline = 0;
    };
    std::map<std::pair<std::size_t, std::uint32_t>, Sums> places;
    Sums all;
    for (const OverlappedRun* run : runs) {
        Sums& place = places[{run->group, run->ordinal}];
        for (Sums* sums : {&place, &all}) {
            sums->measured += run->duration_us;
            sums->baseline += run->baseline_us;
        }
    }
    std::vector<Sums> list;
    for (const auto& [place, sums] : places)
        list.push_back(sums);
    WeightedSlowdown result;
    result.slowdown = all.measured / all.baseline;
    constexpr std::size_t kDraws = 1000;
    std::vector<double> draws;
    RandomStream random(7, "overlap");
    for (std::size_t draw = 0; draw < kDraws; ++draw) {
        Sums sum;
        for (std::size_t i = 0; i < list.size(); ++i) {
            const Sums& one = list[random.below(list.size())];
            sum.measured += one.measured;
            sum.baseline += one.baseline;
        }
        draws.push_back(sum.measured / sum.baseline);
    }
    std::sort(draws.begin(), draws.end());
    constexpr std::size_t kLow = 25;
    constexpr std::size_t kHigh = 975;
    result.low = draws[kLow];
    result.high = draws[kHigh];
    return result;
}

}  // namespace switchfold::validation
