// SPDX-License-Identifier: Apache-2.0
#include "training/plan/fold/folded_step.h"

#include "core/error.h"
#include "training/plan/fold/repeated_work.h"
#include "training/plan/step/rank_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <tuple>
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

/// Appends a graph's operations to those of the same ranks, on their first stream.
void append(ExecutionGraph& graph, const ExecutionGraph& more) {
    const auto names = static_cast<std::uint32_t>(graph.names.size());
    const auto groups = static_cast<std::uint32_t>(graph.groups.size());
    graph.names.insert(graph.names.end(), more.names.begin(), more.names.end());
    graph.groups.insert(graph.groups.end(), more.groups.begin(), more.groups.end());
    for (std::size_t rank = 0; rank < more.ranks.size(); ++rank) {
        RankGraph own = *graph.ranks[rank];
        if (own.streams.empty())
            own.streams = more.ranks[rank]->streams;
        for (Operation operation : more.ranks[rank]->operations) {
            operation.name += names;
            if (auto* collective = std::get_if<CollectiveOperation>(&operation.body))
                collective->group += groups;
            own.operations.push_back(std::move(operation));
        }
        graph.ranks[rank] = std::make_shared<const RankGraph>(std::move(own));
    }
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

/// Records the passes that are one kernel while the step is written.
class FoldedStep::Recorder : public FoldedParts {
public:
    Recorder(const TrainingStep& step, std::vector<Use>& uses) : step_(step), uses_(uses) {}

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
    std::vector<Use>& uses_;
    std::map<std::pair<PassKind, std::uint32_t>, std::size_t> piece_;
    std::vector<Pass> passes_;  ///< one representative of each piece
};

FoldedStep::FoldedStep(
    const TrainingStep& step, std::uint32_t machine, std::vector<std::uint32_t> ways) :
    groups_(step.plan(), machine, std::move(ways)), by_passes_(folds_by_passes(step)) {
    const std::string why = why_not_folded(step, machine);
    SWITCHFOLD_CHECK(why.empty(), "a plan that cannot be folded: {}", why);
    const RankMap map(step.plan());
    Recorder recorder(step, passes_of_);
    const StepParts parts(step, map, &recorder);
    Communicators groups;
    NameTable names;
    std::vector<RankGraph> ranks(map.ranks());
    for (RankPlace place; place.device < step.plan().pipeline; ++place.device) {
        const std::uint32_t rank = map.rank(place);
        ranks[rank] = RankWriter(parts, rank, groups, names).write();
    }
    hold_all_along(step, ranks);
    skeleton_ = graph_of(step, std::move(ranks), std::move(groups), std::move(names));
    find_collectives();
    whole_ = write_passes(step, machine, recorder, false);
    shorter_ = write_passes(step, machine, recorder, true);
    probe_ = whole_.graph;
    for (const CollectiveFamily& family : families_) {
        std::vector<std::size_t> all(family.bytes.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        append(probe_, groups_.probe(family, all, groups_.ranks(family.members)));
    }
}

/// Finds the collectives within devices. Those between devices have one rank of each and stay.
void FoldedStep::find_collectives() {
    std::map<std::uint32_t, MembersOn> members;  // by group
    for (std::uint32_t group = 0; group < skeleton_.groups.size(); ++group)
        if (const auto found = groups_.members_of(skeleton_.groups[group].ranks))
            members.emplace(group, *found);
    std::map<std::tuple<MembersOn, CollectiveKind, Datatype>, std::size_t> family_of;
    for (std::uint32_t rank = 0; rank < skeleton_.ranks.size(); ++rank) {
        const auto& operations = skeleton_.ranks[rank]->operations;
        for (std::uint32_t i = 0; i < operations.size(); ++i) {
            const auto* body = std::get_if<CollectiveOperation>(&operations[i].body);
            if (body == nullptr || !members.contains(body->group))
                continue;
            const MembersOn of = members.at(body->group);
            const auto [at, fresh] =
                family_of.try_emplace({of, body->kind, body->datatype}, families_.size());
            if (fresh)
                families_.push_back({of, body->kind, body->datatype, {}});
            std::vector<Bytes>& bytes = families_[at->second].bytes;
            const auto found = std::find(bytes.begin(), bytes.end(), body->bytes);
            collectives_of_.push_back(
                {rank, i, static_cast<std::size_t>(found - bytes.begin()), at->second});
            if (found == bytes.end())
                bytes.push_back(body->bytes);
        }
    }
    if (by_passes_)
        return;
    // A group of which one rank is left waits for nobody; those of several devices for each other.
    for (const auto& [number, of] : members) {
        Group& group = skeleton_.groups[number];
        group.stands_for = static_cast<std::uint32_t>(group.ranks.size());
        group.ranks = groups_.firsts_of(group.ranks);
    }
}

std::optional<FoldedStep::RunParts> FoldedStep::run_parts() const {
    if (std::none_of(shorter_.pieces.begin(), shorter_.pieces.end(), [](const Piece& piece) {
            return piece.further > 0;
        }))
        return std::nullopt;
    return RunParts{kFirstParts + kPacedParts, kPacedParts};
}

/// Every piece, one after another, with marks that are equal on all ranks.
FoldedStep::Passes FoldedStep::write_passes(
    const TrainingStep& step, std::uint32_t machine, const Recorder& recorder, bool shorter) {
    const ParallelPlan& plan = step.plan();
    const RankMap map(plan);
    Communicators groups;
    NameTable names;
    std::vector<RankGraph> ranks(map.ranks());
    const std::uint32_t group = plan.tensor * plan.context;
    const std::uint32_t most = std::min(group * plan.data, std::max(group, machine));
    struct Written {
        ShorterWork work;
        std::optional<double> further;  ///< of Piece; none: all of the pass comes first
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
    Passes passes;
    for (std::uint32_t rank = 0; rank < most && !written.empty(); ++rank) {
        PassWriter writer(map, rank, plan.launch_times, groups, names);
        const auto mark = [&] { return writer.one_kernel(0, "mark", Phase::kOther); };
        const auto write = [&](const Work& work) {
            for (const WorkItem& item : work)
                writer.layer_work(0, item, Phase::kForward);
        };
        passes.pieces.clear();
        for (const Written& pass : written) {
            Piece piece;
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
    hold_all_along(step, ranks);
    passes.graph = graph_of(step, std::move(ranks), std::move(groups), std::move(names));
    return passes;
}

FoldedStep::Measured FoldedStep::each(Time time) const {
    Measured measured;
    measured.pieces.assign(whole_.pieces.size(), time);
    MeasuredCollective collective;
    collective.time = time;
    for (const CollectiveFamily& family : families_)
        measured.collectives.emplace_back(family.bytes.size(), collective);
    return measured;
}

ExecutionGraph FoldedStep::graph(const Measured& measured) const {
    SWITCHFOLD_CHECK(
        measured.pieces.size() == whole_.pieces.size() &&
            measured.collectives.size() == families_.size(),
        "times of other pieces");
    std::map<std::uint32_t, RankGraph> changed;
    const auto body_of = [&](const Use& use) -> OperationBody& {
        const auto at = changed.try_emplace(use.rank, *skeleton_.ranks[use.rank]).first;
        return at->second.operations[use.operation].body;
    };
    for (const Use& use : passes_of_)
        std::get<KernelOperation>(body_of(use)).isolated = measured.pieces[use.index];
    for (const Use& use : collectives_of_) {
        const MeasuredCollective& found = measured.collectives[use.family].at(use.index);
        auto& collective = std::get<CollectiveOperation>(body_of(use));
        collective.given = found.time;
        if (by_passes_)
            continue;
        collective.holds_blocks = true;
        collective.given_traffic = found.traffic;
        collective.given_footprint = found.footprint;
        collective.given_links =
            1 + static_cast<std::uint32_t>(families_[use.family].members.members);
        collective.given_busy = found.busy;
        collective.thread_blocks = found.blocks;
        collective.threads_per_block = found.threads;
        collective.registers_per_thread = found.registers_per_thread;
        collective.shared_memory = found.shared_memory;
    }
    ExecutionGraph graph = skeleton_;
    for (auto& [rank, operations] : changed)
        graph.ranks[rank] = std::make_shared<const RankGraph>(std::move(operations));
    return graph;
}

}  // namespace switchfold
