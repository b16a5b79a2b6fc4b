// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/rank_alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace switchfold {

namespace {

constexpr std::size_t kMostProblems = 20;

struct RankPart {
    std::size_t rank = 0;  ///< index into the workload
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Bytes bytes;
    SizeSource size_source = SizeSource::kTrace;
    bool uneven = false;  ///< ranks may state different bytes
    double start_us = 0;
    double end_us = 0;
};
using Key = std::pair<std::uint32_t, std::uint64_t>;  // group, sequence
using Collectives = std::map<Key, std::vector<RankPart>>;

Collectives parts_of(const TraceWorkload& workload) {
    Collectives found;
    for (std::size_t r = 0; r < workload.graph.ranks.size(); ++r) {
        const auto& operations = workload.graph.ranks[r]->operations;
        const auto& measured = workload.measured.at(r);
        for (std::size_t i = 0; i < operations.size() && i < measured.size(); ++i) {
            operations.forget_at(i);
            measured.forget_at(i);
            if (const auto* c = std::get_if<CollectiveOperation>(&operations[i].body))
                found[{c->group, c->sequence}].push_back(
                    {r, c->kind, c->bytes, c->size_source, c->exchange != 0 || c->holds_blocks,
                     to_microseconds(measured[i].start), to_microseconds(measured[i].end)});
        }
    }
    return found;
}

double median(std::vector<double> values) {
    if (values.empty())
        return 0;
    const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), half, values.end());
    return *half;
}

class Aligner {
public:
    explicit Aligner(const TraceWorkload& workload) :
        workload_(workload), collectives_(parts_of(workload)) {}

    RankAlignment run() {
        find_missing_ranks();
        check_agreement();
        set_clocks();
        separate();
        return std::move(result_);
    }

private:
    void find_missing_ranks() {
        std::uint32_t world = 1;
        for (const TraceFileReport& file : workload_.files)
            world = std::max(world, file.world_size);
        std::vector<bool> there(world, false);
        for (const TraceFileReport& file : workload_.files)
            if (file.rank < world)
                there[file.rank] = true;
        for (std::uint32_t rank = 0; rank < world; ++rank)
            if (!there[rank])
                result_.missing_ranks.push_back(rank);
    }

    void problem(const RankPart& part, std::string message) {
        if (result_.problems.size() < kMostProblems)
            result_.problems.push_back({workload_.files[part.rank].file, "", std::move(message)});
    }

    [[nodiscard]] std::string called(const Key& key, const RankPart& part) const {
        return fmt::format(
            "{} number {} of group {}", to_string(part.kind), key.second,
            workload_.graph.groups[key.first].name);
    }

    /// Number of traced ranks in the group.
    [[nodiscard]] std::size_t traced(std::uint32_t group) const {
        const auto& ranks = workload_.graph.groups[group].ranks;
        return static_cast<std::size_t>(
            std::count_if(workload_.files.begin(), workload_.files.end(), [&](const auto& f) {
                return std::binary_search(ranks.begin(), ranks.end(), f.rank);
            }));
    }

    void check_agreement() {
        for (const auto& [key, parts] : collectives_) {
            const RankPart& first = parts.front();
            if (parts.size() < traced(key.first))
                problem(
                    first,
                    fmt::format(
                        "has {}, which {} of the {} traced ranks of the group have; expected it "
                        "on all of them: were the traces cut at the same step?",
                        called(key, first), parts.size(), traced(key.first)));
            for (std::size_t i = 1; i < parts.size(); ++i)
                if (parts[i - 1].rank == parts[i].rank)
                    problem(
                        parts[i],
                        fmt::format("has {} twice; expected it once", called(key, parts[i])));
            for (const RankPart& part : parts) {
                const bool sizes = part.size_source == SizeSource::kTrace &&
                                   first.size_source == SizeSource::kTrace;
                if (part.kind != first.kind)
                    problem(
                        part,
                        fmt::format(
                            "has {} where rank {} has {}; expected the same order of collectives",
                            called(key, part), workload_.files[first.rank].rank,
                            to_string(first.kind)));
                else if (sizes && part.bytes != first.bytes && !part.uneven)
                    problem(
                        part, fmt::format(
                                  "has {} with {} where rank {} has {}; expected the same size",
                                  called(key, part), to_string(part.bytes),
                                  workload_.files[first.rank].rank, to_string(first.bytes)));
            }
        }
    }

    /// Whether such a collective ends at about the same time on every rank.
    static bool ends_together(CollectiveKind kind) {
        return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kAllGather ||
               kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllToAll;
    }

    /// Parts are sorted by rank.
    static const RankPart* part_of(const std::vector<RankPart>& parts, std::size_t rank) {
        const auto found = std::lower_bound(
            parts.begin(), parts.end(), rank,
            [](const RankPart& p, std::size_t r) { return p.rank < r; });
        return found != parts.end() && found->rank == rank ? &*found : nullptr;
    }

    /// End times of the rank minus those of the reference, over all collectives that both have.
    [[nodiscard]] std::vector<double> differences(std::size_t rank, std::size_t reference) const {
        std::vector<double> found;
        for (const auto& [key, parts] : collectives_) {
            const RankPart* a = part_of(parts, rank);
            const RankPart* b = part_of(parts, reference);
            if (a != nullptr && b != nullptr && ends_together(a->kind))
                found.push_back(a->end_us - b->end_us);
        }
        return found;
    }

    void set_clocks() {
        const std::size_t count = workload_.graph.ranks.size();
        result_.clock_offset_us.assign(count, 0);
        result_.clock_noise_us.assign(count, 0);
        // A rank that shares no group with the first is aligned with an earlier rank of known
        // clock.
        std::vector<bool> known(count, false);
        for (std::size_t rank = 0; rank < count; ++rank)
            for (std::size_t reference = 0; reference < std::max<std::size_t>(rank, 1);
                 ++reference) {
                std::vector<double> apart =
                    rank == 0 ? std::vector<double>{0} : differences(rank, reference);
                if (apart.empty() || (rank > 0 && !known[reference]))
                    continue;
                const double offset = median(apart);
                for (double& difference : apart)
                    difference = std::abs(difference - offset);
                result_.clock_offset_us[rank] = result_.clock_offset_us[reference] + offset;
                result_.clock_noise_us[rank] = median(apart);
                known[rank] = true;
                break;
            }
    }

    void separate() {
        for (const auto& [key, parts] : collectives_) {
            if (parts.size() < 2)
                continue;
            double first_start = INFINITY;
            double last_start = -INFINITY;
            double end = -INFINITY;
            for (const RankPart& part : parts) {
                const double offset = result_.clock_offset_us[part.rank];
                first_start = std::min(first_start, part.start_us - offset);
                last_start = std::max(last_start, part.start_us - offset);
                end = std::max(end, part.end_us - offset);
            }
            const auto ps = [](double us) {
                constexpr double kMostUs = 9e12;  // fits 64 bits of ps
                return Time(static_cast<std::uint64_t>(std::clamp(us, 0.0, kMostUs) * 1e6));
            };
            result_.collectives.push_back(
                {key.first, key.second, static_cast<std::uint32_t>(parts.size()),
                 parts.front().bytes, ps(last_start - first_start), ps(end - last_start)});
        }
    }

    const TraceWorkload& workload_;
    Collectives collectives_;
    RankAlignment result_;
};

}  // namespace

RankAlignment align_ranks(const TraceWorkload& workload) {
    return Aligner(workload).run();
}

}  // namespace switchfold
