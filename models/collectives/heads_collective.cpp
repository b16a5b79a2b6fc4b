// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/block_network.h"
#include "models/collectives/in_switch_steps.h"
#include "models/collectives/running_collective.h"
#include "models/collectives/switch_stages.h"
#include "sim/core/error.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace switchfold {

namespace {

/// What happens to heads' pieces between reducing inside the machine and spreading there.
class PieceGate {
public:
    /// When (ps) the piece that this head works on in this loop is reduced; Program::kNotYet if
    /// not.
    [[nodiscard]] virtual std::uint64_t
    reduced(std::uint32_t position, std::uint32_t channel, std::uint64_t loop) const = 0;
    /// `bytes` of it are final at `when` (ps).
    virtual void made_final(
        std::uint32_t position,
        std::uint32_t channel,
        std::uint64_t loop,
        std::uint64_t bytes,
        std::uint64_t when) = 0;

protected:
    ~PieceGate() = default;
};

/// A block between machines: for each loop the steps of an all-reduce of that loop's piece, which
/// start when the machine's own sum of it is there.
class StagedProgram final : public Program {
public:
    using Maker = std::function<std::unique_ptr<Program>(Part)>;
    StagedProgram(
        PieceGate& gate,
        const HeadPieces& pieces,
        std::uint32_t position,
        std::uint32_t channel,
        std::uint32_t head,
        Maker make) :
        gate_(gate),
        pieces_(pieces),
        make_(std::move(make)),
        position_(position),
        channel_(channel),
        head_(head) {}

    std::optional<Step> next() override {
        while (true) {
            if (inner_) {
                if (std::optional<Step> step = inner_->next()) {
                    step->staged = true;
                    last_ = *step;
                    return step;
                }
                inner_.reset();
                ++loop_;
            }
            if (loop_ == pieces_.loops(channel_))
                return std::nullopt;
            const Part part = pieces_.piece(channel_, loop_, head_);
            if (part.bytes > 0)
                inner_ = make_(part);
            else
                ++loop_;
        }
    }
    [[nodiscard]] std::uint64_t available() const override {
        return gate_.reduced(position_, channel_, loop_);
    }
    void finished(std::uint64_t when) override {
        if (last_.store)
            gate_.made_final(position_, channel_, loop_, last_.bytes, when);
    }

private:
    PieceGate& gate_;
    const HeadPieces& pieces_;
    Maker make_;
    std::unique_ptr<Program> inner_;
    Step last_;
    std::uint32_t position_;
    std::uint32_t channel_;
    std::uint32_t head_;
    std::uint64_t loop_ = 0;
};

/// Chunk of one head: NCCL enqueue.cc:2258-2285 for NVLS and, across machines, NVLS tree. It has no
/// ring over the heads.
std::uint64_t chunk_for(const CollectiveParams& params, const CollectiveSpec& spec) {
    const std::size_t machines = spec.layout.machines.size();
    const std::uint64_t ways =
        std::uint64_t{spec.choice.channels} * spec.layout.machines.front().size();
    const std::uint64_t bytes = spec.bytes.count();
    if (machines == 1)
        return nvls_chunk(params.in_switch_chunk, ways, bytes);
    std::uint64_t chunk = params.in_switch_chunk.count();
    const auto limit = [&](std::uint64_t chunks, std::uint64_t most) {
        if (bytes < chunks * ways * chunk)
            chunk = std::min(chunk, most);
    };
    if (spec.choice.algorithm == Algorithm::kInSwitchRing) {
        // A ring cuts its piece once more, and every cut costs the proxy a post.
        const std::uint64_t least = chunk / 4;
        chunk *= machines;
        while (chunk > least && bytes < 4 * ways * chunk)
            chunk /= 2;
    } else {
        constexpr std::size_t kMany = 4;
        if (machines >= kMany)
            chunk = std::min(chunk, params.in_switch_tree_chunk.count());
        limit(32, 256 << 10);
        limit(16, 128 << 10);
        limit(4, 64 << 10);
        limit(1, 32 << 10);
    }
    return std::max(chunk / kGrain * kGrain, kGrain);
}

HeadPieces pieces_for(const CollectiveParams& params, const CollectiveSpec& spec) {
    const auto heads = static_cast<std::uint32_t>(spec.layout.machines.front().size());
    const std::uint64_t chunk = chunk_for(params, spec);
    if (spec.kind == CollectiveKind::kAllReduce)
        return HeadPieces::contiguous(spec.bytes.count(), spec.choice.channels, heads, chunk);
    return HeadPieces::blocks(spec.bytes.count() / heads, spec.choice.channels, heads, chunk);
}

class HeadsCollective final : public RunningCollective,
                              private SwitchStagesListener,
                              private MemberListener,
                              private PieceGate {
public:
    HeadsCollective(
        const CollectiveEnvironment& environment,
        const CollectiveSpec& spec,
        MemberListener& listener);

    void join(std::uint32_t position, Time start) override;
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override;
    [[nodiscard]] Bytes footprint() const override { return footprint_; }
    [[nodiscard]] bool uses(const Link& link) const override {
        return std::any_of(
            stages_.begin(), stages_.end(), [&](const auto& stages) { return stages->uses(link); });
    }
    [[nodiscard]] std::vector<std::vector<float>>& buffers() override { return buffers_.own; }
    [[nodiscard]] std::vector<std::vector<float>>& results() override { return buffers_.results; }

private:
    /// A head's piece of the loops in the pipeline, between the halves.
    struct Piece {
        std::uint64_t reduced = 0;        ///< loops
        std::vector<std::uint64_t> when;  ///< ps, by loop in the pipeline
        std::uint64_t final_bytes = 0;    ///< of the loop that is being finished
    };
    void on_reduced(
        std::uint32_t position,
        std::uint32_t channel,
        std::uint64_t loop,
        std::uint64_t when) override;
    void on_stages_done(std::uint32_t position, Time end) override { end_part(position, end); }
    void on_member_done(std::uint32_t position, Time end) override { end_part(position, end); }
    void end_part(std::uint32_t position, Time end);
    [[nodiscard]] std::uint64_t
    reduced(std::uint32_t position, std::uint32_t channel, std::uint64_t loop) const override;
    void made_final(
        std::uint32_t position,
        std::uint32_t channel,
        std::uint64_t loop,
        std::uint64_t bytes,
        std::uint64_t when) override;

    void join_heads(const CollectiveEnvironment& environment);
    [[nodiscard]] std::vector<BlockPlan> plan_heads(std::uint32_t channel, std::uint32_t head);
    Piece& piece(std::uint32_t position, std::uint32_t channel) {
        return between_[std::size_t{position} * pieces_.channels() + channel];
    }

    CollectiveSpec spec_;
    MemberListener& listener_;
    HeadPieces pieces_;
    std::uint64_t depth_;
    StageBuffers buffers_;
    std::vector<std::uint32_t> place_;                   ///< within its machine, by position
    std::vector<std::unique_ptr<SwitchStages>> stages_;  ///< by machine
    std::unique_ptr<BlockNetwork> heads_;                ///< null in one machine
    std::vector<Piece> between_;
    std::vector<std::uint32_t> parts_left_;  ///< by position
    std::vector<Time> end_;
    Bytes footprint_;
};

HeadsCollective::HeadsCollective(
    const CollectiveEnvironment& environment,
    const CollectiveSpec& spec,
    MemberListener& listener) :
    spec_(spec),
    listener_(listener),
    pieces_(pieces_for(environment.params, spec)),
    depth_(environment.params.steps),
    place_(spec.ranks.size()),
    parts_left_(spec.ranks.size(), spec.layout.machines.size() > 1 ? 2 : 1),
    end_(spec.ranks.size()) {
    if (environment.functional) {
        buffers_.own.resize(spec.ranks.size());
        buffers_.sums.resize(spec.ranks.size());
        buffers_.results.resize(spec.ranks.size());
    }
    const SwitchStages::Halves halves{
        spec.kind != CollectiveKind::kAllGather, spec.kind != CollectiveKind::kReduceScatter};
    for (const auto& members : spec_.layout.machines) {
        for (std::uint32_t i = 0; i < members.size(); ++i)
            place_[members[i]] = i;
        SwitchStagesListener& self = *this;
        stages_.push_back(std::make_unique<SwitchStages>(
            environment, spec_, members, pieces_, halves, buffers_, self));
    }
    if (stages_.size() > 1)
        join_heads(environment);
    const std::uint64_t ways = std::uint64_t{spec.choice.channels} * pieces_.heads();
    footprint_ = Bytes(
        std::min(2 * spec.bytes.count(), 2 * depth_ * chunk_for(environment.params, spec) * ways));
}

void HeadsCollective::join_heads(const CollectiveEnvironment& environment) {
    between_.resize(spec_.ranks.size() * pieces_.channels());
    for (Piece& p : between_)
        p.when.assign(depth_, 0);
    MemberListener& self = *this;
    heads_ = std::make_unique<BlockNetwork>(
        environment,
        spec_,
        Protocol::kSimple,
        kStepShape,
        std::max(kGrain, chunk_for(environment.params, spec_)),
        1,
        self);
    if (environment.functional)
        heads_->use_buffers(buffers_.sums, buffers_.sums);
    for (std::uint32_t channel = 0; channel < pieces_.channels(); ++channel)
        for (std::uint32_t head = 0; head < pieces_.heads(); ++head)
            heads_->add_channel(plan_heads(channel, head));
}

std::vector<BlockPlan> HeadsCollective::plan_heads(std::uint32_t channel, std::uint32_t head) {
    const auto& machines = spec_.layout.machines;
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
        return plan_tree(parent, channel, WarpSplit{}, [&](std::uint32_t rank, const Step& shape) {
            return staged(rank, [shape](Part part) {
                return std::make_unique<StreamProgram>(shape, part, part.bytes);
            });
        });
    }
    std::vector<BlockPlan> plans;
    for (std::uint32_t machine = 0; machine < n; ++machine) {
        BlockPlan plan;
        plan.rank = machines[machine][head];
        plan.channel = channel;
        plan.receive_from = {machines[(machine + n - 1) % n][head]};
        plan.send_to = {machines[(machine + 1) % n][head]};
        plan.program = staged(plan.rank, [machine, n](Part part) {
            return ring_all_reduce_program(machine, n, part, part.bytes, kGrain);
        });
        plans.push_back(std::move(plan));
    }
    return plans;
}

void HeadsCollective::join(std::uint32_t position, Time start) {
    if (heads_) {
        if (!buffers_.own.empty())
            buffers_.sums[position].resize(buffers_.own[position].size());
        heads_->join(position, start);
    }
    stages_[spec_.layout.machine_of[position]]->join(place_[position], start);
}

void HeadsCollective::on_reduced(
    std::uint32_t position, std::uint32_t channel, std::uint64_t loop, std::uint64_t when) {
    if (!heads_)
        return;
    Piece& p = piece(position, channel);
    SWITCHFOLD_CHECK(p.reduced == loop, "loops are reduced out of order");
    p.when[loop % depth_] = when;
    ++p.reduced;
    heads_->wake(position);
}

std::uint64_t
HeadsCollective::reduced(std::uint32_t position, std::uint32_t channel, std::uint64_t loop) const {
    const Piece& p = between_[std::size_t{position} * pieces_.channels() + channel];
    return loop < p.reduced ? p.when[loop % depth_] : Program::kNotYet;
}

void HeadsCollective::made_final(
    std::uint32_t position,
    std::uint32_t channel,
    std::uint64_t loop,
    std::uint64_t bytes,
    std::uint64_t when) {
    Piece& p = piece(position, channel);
    p.final_bytes += bytes;
    if (p.final_bytes < pieces_.piece(channel, loop, place_[position]).bytes)
        return;
    p.final_bytes = 0;
    stages_[spec_.layout.machine_of[position]]->spread(place_[position], channel, when);
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
    return lines;
}

}  // namespace

std::unique_ptr<RunningCollective> make_heads_collective(
    const CollectiveEnvironment& environment,
    const CollectiveSpec& spec,
    MemberListener& listener) {
    return std::make_unique<HeadsCollective>(environment, spec, listener);
}

}  // namespace switchfold
