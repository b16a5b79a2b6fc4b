// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "models/collectives/fifo/block_network.h"
#include "models/collectives/fifo/staged_program.h"
#include "models/collectives/in_switch/aggregation.h"
#include "models/collectives/in_switch/in_switch_base.h"
#include "models/collectives/in_switch/in_switch_steps.h"
#include "models/collectives/in_switch/nvls_chunk_size.h"
#include "models/collectives/in_switch/nvls_tree_groups.h"
#include "models/collectives/in_switch/switch_stages.h"
#include "models/collectives/running_collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace switchfold {

namespace {

// In a window of turns. Heads run ahead of each other by a pipeline's depth and fall back again.
constexpr std::uint64_t kFewLoops = 4;
constexpr std::uint64_t kMostHeadLoops = 32;

/// The whole's layout, or that of the first rank of each machine, which stands for the others.
GroupLayout simulated_layout(const CollectiveSpec& spec) {
    if (spec.stands_for == 0)
        return spec.layout;
    GroupLayout kept;
    for (std::uint32_t machine = 0; machine < spec.layout.machines.size(); ++machine) {
        kept.machines.push_back({machine});
        kept.machine_of.push_back(machine);
    }
    return kept;
}

class HeadsCollective final : public RunningCollective,
                              public Repeating,
                              public Functional,
                              private SwitchStagesListener,
                              private MemberListener,
                              private PieceGate {
public:
    HeadsCollective(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::vector<DomainGroups> machines,
        std::vector<std::unique_ptr<ReductionGroup>> rails);

    void join(std::uint32_t position, Time start) override;
    void abandon() override;
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override;
    [[nodiscard]] Bytes footprint() const override { return footprint_; }
    [[nodiscard]] bool leaves_operands() const override { return aggregation_ != nullptr; }
    [[nodiscard]] bool quiet() const override {
        return std::all_of(
            stages_.begin(), stages_.end(), [](const auto& stages) { return stages->quiet(); });
    }
    [[nodiscard]] bool uses(const Link& link) const override {
        return (aggregation_ && aggregation_->uses(link)) ||
               std::any_of(stages_.begin(), stages_.end(), [&](const auto& stages) {
                   return stages->uses(link);
               });
    }
    [[nodiscard]] PeriodDetector* turns() override { return turns_ ? &*turns_ : nullptr; }
    [[nodiscard]] std::uint64_t skippable(std::uint32_t lane, std::uint64_t unit) const override;
    void skip(std::uint32_t lane, std::uint64_t loops) override;
    [[nodiscard]] std::vector<std::vector<float>>& buffers() override { return buffers_.own; }
    [[nodiscard]] std::vector<std::vector<float>>& results() override { return buffers_.results; }

private:
    /// The thread blocks of one head and channel between machines.
    struct Joint {
        std::vector<ThreadBlock*> blocks;
        std::uint64_t begun = 0;  ///< loops whose reduction its warps have turned to
    };
    void on_progress(std::uint32_t position, std::uint32_t channel) override;
    void on_unit_failure() override;
    void on_stages_done(std::uint32_t position, Time end) override { end_part(position, end); }
    void on_member_done(std::uint32_t position, Time end) override { end_part(position, end); }
    void end_part(std::uint32_t position, Time end);
    [[nodiscard]] std::uint64_t available(
        std::uint32_t position, std::uint32_t channel, std::uint64_t loop, const Step& step,
        Part part) override;
    void moved(
        std::uint32_t position, std::uint32_t channel, std::uint64_t loop, const Step& step,
        Part part) override;
    void attach(std::uint32_t position, std::uint32_t channel, ThreadBlock& block) override {
        joint(position, channel).blocks.push_back(&block);
    }

    [[nodiscard]] StageRole role(std::uint32_t machine, std::uint32_t channel) const;
    [[nodiscard]] SwitchStages::Work
    work(const CollectiveParams& params, std::uint32_t machine) const;
    void join_heads(const CollectiveEnvironment& environment);
    void join_rails(
        const CollectiveEnvironment& environment,
        std::vector<std::unique_ptr<ReductionGroup>> rails);
    [[nodiscard]] std::vector<BlockPlan> plan_heads(std::uint32_t channel, std::uint32_t head);
    Joint& joint(std::uint32_t position, std::uint32_t channel) {
        return joints_[std::size_t{position} * pieces_.channels() + channel];
    }
    SwitchStages& stages_of(std::uint32_t position) {
        return *stages_[layout_.machine_of[position]];
    }

    Fabric& fabric_;
    CollectiveSpec spec_;
    GroupLayout layout_;  ///< of the simulated ranks
    MemberListener& listener_;
    NvlsChunks pieces_;
    bool fused_;  ///< the warps that reduce also send
    bool registered_;
    StageBuffers buffers_;
    std::optional<PeriodDetector> turns_;
    std::vector<std::uint32_t> place_;                   ///< within its machine, by position
    std::vector<std::unique_ptr<SwitchStages>> stages_;  ///< by machine
    std::unique_ptr<BlockNetwork> heads_;                ///< null in one machine
    std::unique_ptr<Aggregation> aggregation_;           ///< where the network reduces
    std::vector<Joint> joints_;
    Bandwidth spread_rate_;
    std::vector<std::uint32_t> parts_left_;  ///< by position
    std::vector<Time> end_;
    Bytes footprint_;
};

HeadsCollective::HeadsCollective(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::vector<DomainGroups> machines, std::vector<std::unique_ptr<ReductionGroup>> rails) :
    fabric_(environment.fabric),
    spec_(spec),
    layout_(simulated_layout(spec)),
    listener_(listener),
    pieces_(nvls_chunks_of(environment.params, spec)),
    fused_(spec.choice.algorithm != Algorithm::kInSwitchRing),
    registered_(spec.kind == CollectiveKind::kAllReduce && spec.choice.of<NcclConfig>().registered),
    place_(spec.ranks.size()),
    parts_left_(spec.ranks.size(), spec.layout.machines.size() > 1 && rails.empty() ? 2 : 1),
    end_(spec.ranks.size()) {
    if (environment.functional) {
        buffers_.own.resize(spec.ranks.size());
        buffers_.sums.resize(spec.ranks.size());
        buffers_.results.resize(spec.ranks.size());
    }
    for (std::uint32_t machine = 0; machine < layout_.machines.size(); ++machine) {
        const auto& members = layout_.machines[machine];
        for (std::uint32_t i = 0; i < members.size(); ++i)
            place_[members[i]] = i;
        SwitchStagesListener& self = *this;
        stages_.push_back(std::make_unique<SwitchStages>(
            environment, spec_, members, std::move(machines[machine]), pieces_,
            work(environment.params, machine), buffers_, self));
    }
    if (environment.may_jump) {
        turns_.emplace(1, spec.layout.machines.size() > 1 ? kFewLoops : 1, kMostHeadLoops);
        for (const auto& stages : stages_)
            stages->count_turns(*turns_);
    }
    if (!rails.empty())
        join_rails(environment, std::move(rails));
    else if (stages_.size() > 1)
        join_heads(environment);
    const std::uint64_t ways = std::uint64_t{spec.choice.channels} * pieces_.heads();
    footprint_ =
        registered_
            ? Bytes(0)
            : Bytes(std::min(
                  2 * spec.bytes.count(),
                  2 * environment.params.steps * nvls_chunk_size(environment.params, spec) * ways));
}

StageRole HeadsCollective::role(std::uint32_t machine, std::uint32_t channel) const {
    if (spec_.kind == CollectiveKind::kReduceScatter)
        return StageRole::kReduceScatter;
    if (spec_.kind == CollectiveKind::kAllGather)
        return StageRole::kAllGather;
    const auto machines = static_cast<std::uint32_t>(layout_.machines.size());
    const bool root =
        fused_ &&
        double_binary_tree(machines, machine, static_cast<int>(channel % 2)).parent == kNoParent;
    return root ? StageRole::kTreeRoot : StageRole::kTreeNode;
}

SwitchStages::Work
HeadsCollective::work(const CollectiveParams& params, std::uint32_t machine) const {
    SwitchStages::Work work;
    work.reduce = spec_.kind != CollectiveKind::kAllGather;
    work.spread = spec_.kind != CollectiveKind::kReduceScatter;
    work.copies = !registered_;
    if (layout_.machines.size() > 1)
        work.between = fused_ ? Between::kFused : Between::kBuffered;
    for (std::uint32_t channel = 0; channel < pieces_.channels(); ++channel)
        work.warps.push_back(
            stage_warps(params, role(machine, channel), spec_.size(), registered_));
    return work;
}

void HeadsCollective::join_rails(
    const CollectiveEnvironment& environment, std::vector<std::unique_ptr<ReductionGroup>> rails) {
    Aggregation::Machines machines{{}, &layout_, place_};
    for (const auto& stages : stages_)
        machines.stages.push_back(stages.get());
    SwitchStagesListener& self = *this;
    aggregation_ = std::make_unique<Aggregation>(
        environment, spec_, std::move(rails), pieces_,
        stage_warps(environment.params, StageRole::kAggregation, spec_.size()), std::move(machines),
        buffers_, self);
}

void HeadsCollective::join_heads(const CollectiveEnvironment& environment) {
    joints_.resize(spec_.ranks.size() * pieces_.channels());
    const StageWarps warps =
        stage_warps(environment.params, StageRole::kTreeNode, spec_.size(), registered_);
    spread_rate_ = warps.spread_rate;
    // The blocks take what the reducing warps have in hand, which must be able to ask on.
    ChunkShape shape = kStepShape;
    shape.largest_unit = std::max(warps.round, warps.reduce_window / 2);
    MemberListener& self = *this;
    heads_ = std::make_unique<BlockNetwork>(
        environment, spec_, Protocol::kSimple, shape,
        std::max(kGrain, nvls_chunk_size(environment.params, spec_)), 1, self);
    if (environment.functional)
        heads_->use_buffers(buffers_.sums, buffers_.sums);
    if (turns_)
        heads_->count_turns(*turns_);
    for (std::uint32_t channel = 0; channel < pieces_.channels(); ++channel)
        for (std::uint32_t head = 0; head < layout_.machines.front().size(); ++head)
            heads_->add_channel(plan_heads(channel, head));
}

std::vector<BlockPlan> HeadsCollective::plan_heads(std::uint32_t channel, std::uint32_t head) {
    const auto& machines = layout_.machines;
    const auto n = static_cast<std::uint32_t>(machines.size());
    const auto staged = [&](std::uint32_t position, StagedProgram::Maker make) {
        return std::make_unique<StagedProgram>(
            static_cast<PieceGate&>(*this), pieces_, position, channel, head, std::move(make));
    };
    if (spec_.choice.algorithm == Algorithm::kInSwitchTree) {
        std::vector<std::uint32_t> parent(spec_.ranks.size());
        for (std::uint32_t position = 0; position < parent.size(); ++position)
            parent[position] = position;  // takes no part
        for (std::uint32_t machine = 0; machine < n; ++machine) {
            const std::uint32_t above =
                double_binary_tree(n, machine, static_cast<int>(channel % 2)).parent;
            parent[machines[machine][head]] =
                above == kNoParent ? kNoParent : machines[above][head];
        }
        std::vector<BlockPlan> plans =
            plan_tree(parent, channel, WarpSplit{}, [&](std::uint32_t rank, const Step& shape) {
                return staged(rank, [shape](Part part) {
                    return std::make_unique<StreamProgram>(shape, part, part.bytes);
                });
            });
        // A rank's first block reduces, at the pace of the switches; its second only stores.
        std::set<std::uint32_t> reducing;
        for (BlockPlan& plan : plans) {
            plan.staged = true;
            if (!reducing.insert(plan.rank).second)
                plan.stage_rate = spread_rate_;
        }
        return plans;
    }
    std::vector<BlockPlan> plans;
    for (std::uint32_t machine = 0; machine < n; ++machine) {
        BlockPlan plan;
        plan.rank = machines[machine][head];
        plan.channel = channel;
        plan.receive_from = {machines[(machine + n - 1) % n][head]};
        plan.send_to = {machines[(machine + 1) % n][head]};
        plan.staged = true;
        plan.stage_rate = spread_rate_;
        plan.program = staged(plan.rank, [machine, n](Part part) {
            return ring_all_reduce_program(machine, n, part, part.bytes, kGrain);
        });
        plans.push_back(std::move(plan));
    }
    return plans;
}

void HeadsCollective::join(std::uint32_t position, Time start) {
    if (!buffers_.own.empty())
        buffers_.sums[position].resize(buffers_.own[position].size());
    if (heads_)
        heads_->join(position, start, start);
    stages_of(position).join(place_[position], start);
    if (aggregation_)
        aggregation_->join(position, start);
}

std::uint64_t HeadsCollective::skippable(std::uint32_t lane, std::uint64_t unit) const {
    std::uint64_t least = heads_ ? heads_->skippable(lane, unit) : UINT64_MAX;
    for (const auto& stages : stages_)
        least = std::min(least, stages->skippable(lane));
    return least;
}

void HeadsCollective::skip(std::uint32_t lane, std::uint64_t loops) {
    pieces_.skip(lane, loops);
    for (const auto& stages : stages_)
        stages->skip(lane, loops);
    if (aggregation_)
        aggregation_->arrange();
}

void HeadsCollective::on_progress(std::uint32_t position, std::uint32_t channel) {
    if (aggregation_) {
        aggregation_->on_progress(position, channel);
        return;
    }
    for (ThreadBlock* block : joint(position, channel).blocks)
        block->wake();
}

void HeadsCollective::on_unit_failure() {
    // Some members of the others may have their result already.
    if (spec_.kind != CollectiveKind::kAllReduce)
        throw SimulationError(
            fabric_.name(), fabric_.scheduler().now(),
            fmt::format("{} under a {}", kUnitTimedOut, to_string(spec_.kind)));
    listener_.on_failure(kUnitTimedOut);
}

void HeadsCollective::abandon() {
    for (const auto& stages : stages_)
        stages->abandon();
    if (heads_)
        heads_->abandon();
    if (aggregation_)
        aggregation_->abandon();
}

std::uint64_t HeadsCollective::available(
    std::uint32_t position, std::uint32_t channel, std::uint64_t loop, const Step& step,
    Part part) {
    SwitchStages& stages = stages_of(position);
    const std::uint32_t member = place_[position];
    if (step.load) {
        Joint& j = joint(position, channel);
        if (fused_ && j.begun == loop) {
            ++j.begun;
            stages.reduce(member, channel);
        }
        const std::uint64_t begin = pieces_.piece(channel, loop, member).begin;
        if (stages.reduced(member, channel, loop) < part.begin - begin + part.bytes)
            return Program::kNotYet;
    }
    return step.store ? stages.can_store(member, channel) : 0;
}

void HeadsCollective::moved(
    std::uint32_t position, std::uint32_t channel, std::uint64_t loop, const Step& step,
    Part part) {
    SwitchStages& stages = stages_of(position);
    const std::uint32_t member = place_[position];
    if (step.store) {
        const std::uint64_t begin = pieces_.piece(channel, loop, member).begin;
        stages.store(member, channel, loop, part.begin - begin, part.bytes);
    }
    if (step.load && fused_)
        stages.take(member, channel, part.bytes);
}

void HeadsCollective::end_part(std::uint32_t position, Time end) {
    end_[position] = std::max(end_[position], end);
    if (--parts_left_[position] == 0)
        listener_.on_member_done(position, end_[position]);
}

std::vector<std::string> HeadsCollective::blocked(std::size_t limit) const {
    std::vector<std::string> lines;
    for (const auto& stages : stages_)
        for (std::string& line : stages->blocked(limit - std::min(limit, lines.size())))
            lines.push_back(std::move(line));
    if (aggregation_)
        for (std::string& line : aggregation_->blocked(limit - std::min(limit, lines.size())))
            lines.push_back(std::move(line));
    if (heads_)
        for (std::string& line : heads_->blocked(limit - std::min(limit, lines.size())))
            lines.push_back(std::move(line));
    return lines;
}

}  // namespace

std::unique_ptr<RunningCollective> make_heads_collective(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::string& refused) {
    NvlsTreeGroups groups(environment.fabric);
    if (!groups.create(environment.params, spec, refused))
        return nullptr;
    return std::make_unique<HeadsCollective>(
        environment, spec, listener, groups.take_machines(), groups.take_rails());
}

}  // namespace switchfold
