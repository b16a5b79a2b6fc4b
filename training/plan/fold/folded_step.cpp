// SPDX-License-Identifier: Apache-2.0
#include "training/plan/fold/folded_step.h"

#include "core/error.h"
#include "training/plan/step/rank_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace switchfold {

namespace {

bool same(const WorkItem& a, const WorkItem& b) {
    if (a.index() != b.index())
        return false;
    if (const auto* kernel = std::get_if<KernelItem>(&a))
        return kernel->kernel == std::get<KernelItem>(b).kernel;
    if (const auto* collective = std::get_if<CollectiveItem>(&a)) {
        const auto& other = std::get<CollectiveItem>(b);
        return std::tie(
                   collective->kind, collective->bytes, collective->datatype, collective->sharing,
                   collective->beside) ==
               std::tie(other.kind, other.bytes, other.datatype, other.sharing, other.beside);
    }
    return true;
}

/// Whether two passes take the same time: they are equal except for names and memory.
bool same(const Work& a, const Work& b) {
    const auto timed = [](const Work& work) {
        std::vector<const WorkItem*> items;
        for (const WorkItem& item : work)
            if (!std::holds_alternative<HoldItem>(item))
                items.push_back(&item);
        return items;
    };
    const auto of_a = timed(a);
    const auto of_b = timed(b);
    return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), [](auto x, auto y) {
        return same(*x, *y);
    });
}

}  // namespace

std::string why_not_folded(const PlannedStep& step, std::uint32_t machine) {
    const ParallelPlan& plan = step.plan();
    const PipelineSchedule& schedule = step.schedule();
    if (schedule.routes.size() > 1)
        return fmt::format("{} runs both ways; expected one", schedule.name);
    for (const std::vector<Slot>& order : schedule.order)
        for (const Slot& slot : order)
            if (slot.beside)
                return fmt::format(
                    "{} runs two passes beside each other; expected one after the other",
                    schedule.name);
    const std::uint32_t group = plan.tensor * plan.context;
    if (plan.last_micro_batch != 0 && plan.last_micro_batch != plan.micro_batch)
        return "its last micro-batch is smaller than the others; expected equal ones";
    if (std::any_of(plan.samples.begin(), plan.samples.end(), [&](std::uint32_t samples) {
            return samples != plan.samples.front();
        }))
        return "its replicas have different numbers of samples; expected equal ones";
    if (plan.sharding >= Sharding::kGradients)
        return "its ranks share gradients in every pass; expected sharding none or optimizer";
    if (plan.data * plan.context > 1 && plan.overlap_gradients)
        return "its gradients travel beside a pass; expected overlap_gradients false";
    if (plan.launch_times.any() && !plan.launch_times.wait_after_pass &&
        plan.messages != Messages::kBlocking)
        return "its hosts run ahead from pass to pass; expected launches with wait_after_pass, or "
               "blocking messages";
    if (plan.expert > 1)
        return "its replicas exchange tokens in every pass; expected expert 1";
    if (group % machine != 0 && machine % group != 0)
        return fmt::format(
            "its groups of {} ranks lie differently on machines of {}", group, machine);
    return {};
}

/// Records the pieces of the step while it is written.
class FoldedStep::Recorder : public FoldedParts {
public:
    /// Of data-parallel ranks.
    struct Reduction {
        CollectiveKind kind = CollectiveKind::kAllReduce;
        Bytes bytes;
        Datatype datatype = Datatype::kFloat32;
        bool operator==(const Reduction&) const = default;
    };

    Recorder(const PlannedStep& step, std::vector<Use>& uses) : step_(step), uses_(uses) {}

    void pass(std::uint32_t rank, std::uint32_t operation, const Pass& pass) override {
        uses_.push_back({rank, operation, piece_of(pass)});
    }
    void collective(std::uint32_t rank, std::uint32_t operation) override {
        collectives_.push_back({rank, operation, 0});
    }

    /// Called once everything is written: groups equal collectives.
    void find_collectives(const std::vector<RankGraph>& ranks) {
        for (Use& use : collectives_) {
            const auto& body =
                std::get<CollectiveOperation>(ranks[use.rank].operations[use.operation].body);
            const Reduction reduction{body.kind, body.bytes, body.datatype};
            const auto found = std::find(reductions_.begin(), reductions_.end(), reduction);
            use.piece = passes_.size() + static_cast<std::size_t>(found - reductions_.begin());
            if (found == reductions_.end())
                reductions_.push_back(reduction);
            uses_.push_back(use);
        }
    }

    [[nodiscard]] const std::vector<Pass>& passes() const { return passes_; }
    [[nodiscard]] const std::vector<Reduction>& reductions() const { return reductions_; }

private:
    std::size_t piece_of(const Pass& pass) {
        const auto [at, fresh] = piece_.try_emplace({pass.kind, pass.stage}, passes_.size());
        if (!fresh)
            return at->second;
        const StageWork& work = step_.work();
        const auto alike = std::find_if(passes_.begin(), passes_.end(), [&](const Pass& other) {
            return other.kind == pass.kind &&
                   same(work.work(other.kind, other.stage), work.work(pass.kind, pass.stage));
        });
        at->second = static_cast<std::size_t>(alike - passes_.begin());
        if (alike == passes_.end())
            passes_.push_back(pass);
        return at->second;
    }

    const PlannedStep& step_;
    std::vector<Use>& uses_;
    std::vector<Use> collectives_;
    std::map<std::pair<PassKind, std::uint32_t>, std::size_t> piece_;
    std::vector<Pass> passes_;  ///< one representative of each piece
    std::vector<Reduction> reductions_;
};

/// Writes the probe: every piece once, one after another.
class FoldedStep::ProbeWriter {
public:
    ProbeWriter(const PlannedStep& step, const RankMap& map, const Recorder& pieces) :
        step_(step), map_(map), pieces_(pieces) {}

    /// \returns the marks, which are equal on all ranks that run passes.
    std::vector<Marks>
    rank(PassWriter& writer, std::uint32_t rank, bool reduces, bool does_passes) const {
        std::vector<Marks> marks(pieces_.passes().size());
        for (const Recorder::Reduction& reduction : pieces_.reductions()) {
            if (!reduces)
                break;
            const PassWriter::Index after = mark(writer);
            const auto index = writer.collective(
                "collective", reduction.kind, reduction.bytes, reduction.datatype,
                {"gradients", map_.replicas(rank)}, Phase::kBackward, writer.ends(0));
            if (index)
                writer.wait_for(0, *index);
            marks.push_back({after, mark(writer)});
        }
        if (!does_passes)
            return marks;
        for (std::size_t piece = 0; piece < pieces_.passes().size(); ++piece) {
            const Pass& pass = pieces_.passes()[piece];
            const PassWriter::Index after = mark(writer);
            for (const WorkItem& item : step_.work().work(pass.kind, pass.stage))
                writer.layer_work(0, item, Phase::kForward);
            writer.join(0);
            marks[piece] = {after, mark(writer)};
        }
        return marks;
    }

private:
    static PassWriter::Index mark(PassWriter& writer) {
        return writer.one_kernel(0, "mark", Phase::kOther);
    }
    const PlannedStep& step_;
    const RankMap& map_;
    const Recorder& pieces_;
};

FoldedStep::FoldedStep(const PlannedStep& step, std::uint32_t machine, bool own_ways) {
    const std::string why = why_not_folded(step, machine);
    SWITCHFOLD_CHECK(why.empty(), "a plan that cannot be folded: {}", why);
    const ParallelPlan& plan = step.plan();
    const RankMap map(plan);
    Recorder pieces(step, uses_);
    const StepParts parts(step, map, &pieces);
    {
        Communicators groups;
        NameTable names;
        std::vector<RankGraph> ranks(map.ranks());
        for (RankPlace place; place.device < plan.pipeline; ++place.device) {
            const std::uint32_t rank = map.rank(place);
            ranks[rank] = RankWriter(parts, rank, groups, names).write();
        }
        pieces.find_collectives(ranks);
        hold_all_along(step, ranks);
        skeleton_ = graph_of(step, std::move(ranks), std::move(groups), std::move(names));
    }
    Communicators groups;
    NameTable names;
    std::vector<RankGraph> ranks(map.ranks());
    const ProbeWriter probe(step, map, pieces);
    const std::uint32_t of_device = plan.tensor * plan.context * plan.data;
    for (std::uint32_t rank = 0; rank < of_device; ++rank) {
        const std::uint32_t group = plan.tensor * plan.context;
        PassWriter writer(map, rank, plan.launch_times, groups, names);
        const bool reduces = !own_ways || map.place(rank).tensor == 0;
        auto marks = probe.rank(writer, rank, reduces, rank < std::max(group, machine));
        if (rank == 0)
            marks_ = std::move(marks);
        ranks[rank] = writer.take();
    }
    hold_all_along(step, ranks);
    probe_ = graph_of(step, std::move(ranks), std::move(groups), std::move(names));
}

ExecutionGraph FoldedStep::graph(const std::vector<Time>& times) const {
    SWITCHFOLD_CHECK(times.size() == marks_.size(), "times of other pieces");
    std::map<std::uint32_t, RankGraph> changed;
    for (const Use& use : uses_) {
        const auto at = changed.try_emplace(use.rank, *skeleton_.ranks[use.rank]).first;
        OperationBody& body = at->second.operations[use.operation].body;
        if (auto* kernel = std::get_if<KernelOperation>(&body))
            kernel->isolated = times[use.piece];
        else
            std::get<CollectiveOperation>(body).given = times[use.piece];
    }
    ExecutionGraph graph = skeleton_;
    for (auto& [rank, operations] : changed)
        graph.ranks[rank] = std::make_shared<const RankGraph>(std::move(operations));
    return graph;
}

}  // namespace switchfold
