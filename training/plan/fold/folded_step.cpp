// SPDX-License-Identifier: Apache-2.0
#include "training/plan/fold/folded_step.h"

#include "core/error.h"
#include "training/plan/fold/kept_places.h"
#include "training/plan/fold/plan_orbits.h"
#include "training/plan/fold/repeated_work.h"
#include "training/plan/step/rank_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

/// Of a stretch of many equal parts, so many are run until ranks have moved apart as far as they
/// do, and then some whose pace is that of all others.
constexpr std::uint32_t kFirstParts = 6;
constexpr std::uint32_t kPacedParts = 4;
constexpr std::uint32_t kManyParts = 16;

bool lies_alike(std::uint32_t group, std::uint32_t machine) {
    return group % machine == 0 || machine % group == 0;
}

}  // namespace

std::string why_not_folded(const TrainingStep& step, std::uint32_t machine) {
    const ParallelPlan& plan = step.plan();
    if (plan.last_micro_batch != 0 && plan.last_micro_batch != plan.micro_batch)
        return "its last micro-batch is smaller than the others; expected equal ones";
    if (std::any_of(plan.samples.begin(), plan.samples.end(), [&](std::uint32_t samples) {
            return samples != plan.samples.front();
        }))
        return "its replicas have different numbers of samples; expected equal ones";
    for (const std::uint32_t group :
         {plan.tensor * plan.context, plan.tensor * plan.context * plan.expert})
        if (ranks_of(plan) > machine && !lies_alike(group, machine))
            return fmt::format(
                "its groups of {} ranks lie differently on machines of {}", group, machine);
    return {};
}

bool folds_by_passes(const TrainingStep& step) {
    const ParallelPlan& plan = step.plan();
    return !passes_meet(step) && step.schedule().routes.size() == 1 &&
           !any_beside(step.schedule()) &&
           (plan.data * plan.context == 1 || !plan.overlap_gradients);
}

namespace {

/// Records the passes that are one kernel while the step is written.
class PassRecorder : public FoldedParts {
public:
    PassRecorder(const TrainingStep& step, std::vector<FoldedGraph::Use>& uses) :
        step_(step), uses_(uses) {}

    void pass(std::uint32_t rank, std::uint32_t operation, const Pass& pass) override {
        uses_.push_back({rank, operation, piece_of(pass)});
    }
    [[nodiscard]] const std::vector<Pass>& passes() const { return passes_; }

private:
    std::size_t piece_of(const Pass& pass) {
        const auto [at, fresh] = piece_.try_emplace({pass.kind, pass.stage}, passes_.size());
        if (!fresh)
            return at->second;
        const StageWork& work = step_.work();
        const auto alike = std::find_if(passes_.begin(), passes_.end(), [&](const Pass& other) {
            return other.kind == pass.kind &&
                   same_times(work.work(other.kind, other.stage), work.work(pass.kind, pass.stage));
        });
        at->second = static_cast<std::size_t>(alike - passes_.begin());
        if (alike == passes_.end())
            passes_.push_back(pass);
        return at->second;
    }

    const TrainingStep& step_;
    std::vector<FoldedGraph::Use>& uses_;
    std::map<std::pair<PassKind, std::uint32_t>, std::size_t> piece_;
    std::vector<Pass> passes_;  ///< one representative of each piece
};

/// Every piece, one after another, with marks that are equal on all ranks.
ProbePieces write_passes(
    const TrainingStep& step, std::uint32_t machine, const PassRecorder& recorder, bool shorter) {
    const ParallelPlan& plan = step.plan();
    const RankMap map(plan);
    Communicators groups;
    NameTable names;
    std::vector<RankGraph> ranks(map.ranks());
    const std::uint32_t group = plan.tensor * plan.context;
    const std::uint32_t most = std::min(group * plan.data, std::max(group, machine));
    struct Written {
        ShorterWork work;
        std::optional<double> further;  ///< of ProbePiece; none: all of the pass comes first
    };
    std::vector<Written> written;
    for (const Pass& pass : recorder.passes()) {
        const Work& work = step.work().work(pass.kind, pass.stage);
        if (const auto repeated = shorter ? repeated_work(work, kManyParts) : std::nullopt)
            written.push_back(
                {shorter_work(work, *repeated, kFirstParts, kPacedParts),
                 static_cast<double>(repeated->parts - kFirstParts - kPacedParts) / kPacedParts});
        else
            written.push_back({{work, {}, {}}, {}});
    }
    ProbePieces passes;
    for (std::uint32_t rank = 0; rank < most && !written.empty(); ++rank) {
        PassWriter writer(map, rank, plan.launch_times, groups, names);
        const auto mark = [&] { return writer.one_kernel(0, "mark", Phase::kOther); };
        const auto write = [&](const Work& work) {
            for (const WorkItem& item : work)
                writer.layer_work(0, item, Phase::kForward);
        };
        passes.pieces.clear();
        for (const Written& pass : written) {
            ProbePiece piece;
            piece.all.after = mark();
            write(pass.work.first);
            if (pass.further) {
                piece.parts.after = mark();
                write(pass.work.repeating);
                piece.parts.before = mark();
                write(pass.work.rest);
                piece.further = *pass.further;
            }
            writer.join(0);
            piece.all.before = mark();
            passes.pieces.push_back(piece);
        }
        ranks[rank] = writer.take();
    }
    hold_all_along(std::vector<const TrainingStep*>(map.ranks(), &step), ranks);
    passes.graph = graph_of(step, std::move(ranks), std::move(groups), std::move(names));
    return passes;
}

}  // namespace

std::vector<std::uint32_t> kinds_of(const std::vector<const TrainingStep*>& by_rank) {
    std::map<const TrainingStep*, std::uint32_t> known;
    std::vector<std::uint32_t> kinds;
    for (const TrainingStep* step : by_rank)
        kinds.push_back(
            known.try_emplace(step, static_cast<std::uint32_t>(known.size())).first->second);
    if (known.size() == 1)
        kinds.clear();
    return kinds;
}

FoldedGraph folded_step(
    const TrainingStep& step, std::uint32_t machine, std::vector<std::uint32_t> ways,
    const std::vector<SlowRank>& slow) {
    return folded_step(
        std::vector<const TrainingStep*>(ranks_of(step.plan()), &step), machine, std::move(ways),
        slow);
}

FoldedGraph folded_step(
    const std::vector<const TrainingStep*>& by_rank, std::uint32_t machine,
    std::vector<std::uint32_t> ways, const std::vector<SlowRank>& slow) {
    const TrainingStep& first = *by_rank.front();
    const std::string why = why_not_folded(first, machine);
    SWITCHFOLD_CHECK(why.empty(), "a plan that cannot be folded: {}", why);
    const ParallelPlan& plan = first.plan();
    const RankMap map(plan);
    const std::vector<std::uint32_t> kinds = kinds_of(by_rank);
    const bool alike = slow.empty() && kinds.empty();
    std::vector<FoldedGraph::Use> passes;
    PassRecorder recorder(first, passes);
    Communicators groups;
    NameTable names;
    std::vector<RankGraph> ranks(map.ranks());
    std::vector<std::uint32_t> represents(map.ranks(), 0);
    const std::vector<KeptPlace> kept = kept_places(plan, slow, kinds);
    for (std::uint32_t device = 0; device < plan.pipeline; ++device)
        for (auto [place, stands_for] : kept) {
            place.device = device;
            const std::uint32_t rank = map.rank(place);
            const StepParts parts(*by_rank[rank], map, alike ? &recorder : nullptr);
            ranks[rank] = RankWriter(parts, rank, groups, names).write();
            represents[rank] = stands_for;
        }
    hold_all_along(by_rank, ranks);
    ExecutionGraph skeleton =
        graph_of(by_rank, std::move(ranks), std::move(groups), std::move(names));
    skeleton.represents = std::move(represents);
    slow_down(skeleton, slow);
    PlanOrbits orbits(plan, machine, std::move(ways));
    std::vector<std::optional<std::uint32_t>> orbit_of;
    for (const Group& group : skeleton.groups)
        orbit_of.push_back(orbits.of(group.ranks));
    return FoldedGraph(
        {.skeleton = std::move(skeleton),
         .orbit_of = std::move(orbit_of),
         .orbits = orbits.take(),
         .alone = alike && folds_by_passes(first),
         .pieces_of = std::move(passes),
         .whole = write_passes(first, machine, recorder, false),
         .shorter = write_passes(first, machine, recorder, true)});
}

std::optional<RunParts> run_parts(const FoldedGraph& folded) {
    const std::vector<ProbePiece>& pieces = folded.shorter().pieces;
    if (std::none_of(pieces.begin(), pieces.end(), [](const ProbePiece& piece) {
            return piece.further > 0;
        }))
        return std::nullopt;
    return RunParts{kFirstParts + kPacedParts, kPacedParts};
}

}  // namespace switchfold
