// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/exchange.h"
#include "models/collectives/fifo/block_network.h"
#include "models/collectives/fifo/bundle.h"
#include "models/collectives/running_collective.h"
#include "models/collectives/shortcuts/kept_machines.h"
#include "models/collectives/shortcuts/tree_symmetry.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

bool along_trees(const CollectiveSpec& spec) {
    return spec.kind == CollectiveKind::kAllReduce && spec.choice.algorithm == Algorithm::kTree;
}

ChunkShape shape_of(const CollectiveSpec& spec) {
    switch (spec.kind) {
    case CollectiveKind::kAllReduce:
        return along_trees(spec) ? kStepShape : kRingShape;
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllGather:
        return kRingShape;
    default:
        return kStepShape;
    }
}

/// Trees use smaller chunks for small buffers, to fill their pipeline: the rules of NCCL's
/// enqueue.cc, for Simple those before 2.20.
std::uint64_t chunk_of(const CollectiveSpec& spec, std::uint64_t chunk, bool cut_simple) {
    if (const std::uint64_t handed = spec.choice.of<NcclConfig>().chunk; handed != 0)
        return std::min(chunk, handed);
    if (!along_trees(spec))
        return chunk;
    const double bytes = static_cast<double>(spec.bytes.count()) / spec.choice.channels;
    const auto machines = static_cast<double>(spec.layout.machines.size());
    const double per_machine = static_cast<double>(spec.size()) / machines;
    const auto halve = [&](double chunks, std::uint64_t least) {
        while (bytes / static_cast<double>(chunk) < chunks && chunk > least)
            chunk /= 2;
    };
    if (spec.choice.protocol == Protocol::kSimple && cut_simple) {
        const double depth = per_machine - 1 + std::floor(std::log2(machines));
        halve(depth * 8, 128 << 10);
        halve(depth * 4, 64 << 10);
        halve(depth, 32 << 10);
    } else if (spec.choice.protocol == Protocol::kLl128) {
        const double steps = 1 + std::floor(std::log2(machines)) + 0.1 * per_machine;
        halve(steps * 64 / per_machine, 128 << 10);
        halve(steps * 16 / per_machine, 32 << 10);
    }
    return std::max(chunk / kGrain * kGrain, kGrain);
}

/// NCCL's runTreeSplit: half of the threads plus 64 reduce with Simple, 70 % with other protocols.
/// In Simple a tree's block has 20 warps where a ring's has 16 that move data.
WarpSplit split_of(Protocol protocol) {
    return protocol == Protocol::kSimple ? WarpSplit{kAllWarps * 12 / 16, kAllWarps * 8 / 16}
                                         : WarpSplit{kAllWarps * 7 / 10, kAllWarps * 3 / 10};
}

/// Steps of each pair from which on a folded exchange leaves some out and travels in larger
/// packets.
constexpr std::uint64_t kManyOfFold = 32;

/// Ring, tree and direct exchange for a group on any machines.
class FifoCollective final : public RunningCollective, public Repeating, public Functional {
public:
    FifoCollective(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener);

    void join(std::uint32_t position, Time start) override {
        if (!results_.empty() && out_of_place())
            results_[position] = buffers_[position];  // its own block stays in place
        // In an exchange only the round with the late rank waits.
        const bool exchange = spec_.kind == CollectiveKind::kAllToAll;
        network_.join(position, start, exchange ? start + spec_.peers_late : start);
    }
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override {
        return network_.blocked(limit);
    }
    [[nodiscard]] Bytes footprint() const override { return footprint_; }
    [[nodiscard]] std::optional<double> share_begun() const override {
        return network_.share_begun();
    }
    [[nodiscard]] PeriodDetector* turns() override { return turns_ ? &*turns_ : nullptr; }
    [[nodiscard]] std::uint64_t skippable(std::uint32_t lane, std::uint64_t unit) const override {
        return network_.skippable(lane, unit);
    }
    void skip(std::uint32_t lane, std::uint64_t turns) override { network_.skip(lane, turns); }
    [[nodiscard]] std::vector<std::vector<float>>& buffers() override { return buffers_; }
    [[nodiscard]] std::vector<std::vector<float>>& results() override {
        return out_of_place() ? results_ : buffers_;
    }

private:
    /// Channels that work concurrently on one peer's data, or on all data.
    [[nodiscard]] static std::uint32_t channels_of(const CollectiveSpec& spec) {
        const std::uint32_t for_a_peer = channels_for_a_peer(spec.choice);
        return for_a_peer != 0 ? for_a_peer : spec.choice.channels;
    }
    /// Of the blocks' data; packets of a long folded exchange may be large.
    [[nodiscard]] static ChunkShape shape_in(const CollectiveSpec& spec, std::uint64_t chunk);
    [[nodiscard]] bool out_of_place() const { return channels_for_a_peer(spec_.choice) != 0; }
    /// Adds all channels; of a folded collective those that are simulated.
    void add_channels(bool may_jump);
    /// An exchange's blocks between machines, those inside and those that copy a rank's own data
    /// have three paces.
    [[nodiscard]] std::uint32_t lane_of_exchange(const BlockPlan& plan) const;
    void count_turns(const Program& first, std::size_t blocks);
    /// Bytes that one channel processes at a time.
    [[nodiscard]] std::uint64_t usual_chunk() const;
    [[nodiscard]] std::vector<BlockPlan> plan(std::uint32_t channel, std::uint32_t channels) const;
    /// Those of a folded exchange.
    [[nodiscard]] KeptMachines kept_machines() const {
        const auto members = static_cast<std::uint32_t>(spec_.layout.machines.front().size());
        return {spec_.ranks, spec_.size(), members};
    }
    /// Makes a shorter ring of the simulated ranks.
    void shorten(std::vector<BlockPlan>& plans) const;

    CollectiveSpec spec_;
    std::uint64_t max_chunk_;
    std::uint32_t bundle_;
    std::optional<PeriodDetector> turns_;
    BlockNetwork network_;
    std::vector<std::vector<float>> buffers_;
    std::vector<std::vector<float>> results_;
    Bytes footprint_;
};

std::size_t orders_of(const CollectiveSpec& spec) {
    return along_trees(spec) ? spec.trees.size() : spec.rings.size();
}

std::uint64_t FifoCollective::usual_chunk() const {
    const std::uint64_t per_channel = spec_.bytes.count() / channels_of(spec_);
    const bool whole = spec_.kind == CollectiveKind::kBroadcast ||
                       spec_.kind == CollectiveKind::kReduce ||
                       spec_.kind == CollectiveKind::kSendReceive || along_trees(spec_);
    return std::min<std::uint64_t>(max_chunk_, whole ? per_channel : per_channel / spec_.size());
}

ChunkShape FifoCollective::shape_in(const CollectiveSpec& spec, std::uint64_t chunk) {
    ChunkShape shape = shape_of(spec);
    if (spec.stands_for != 0 && is_exchange(spec.kind) &&
        spec.share() / channels_of(spec) >= kManyOfFold * chunk)
        shape.units_in_chunk = 8;
    return shape;
}

FifoCollective::FifoCollective(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec,
    MemberListener& listener) :
    spec_(spec),
    max_chunk_(chunk_of(
        spec, BlockNetwork::max_chunk(environment.params, spec.choice.protocol, shape_of(spec)),
        environment.params.tree_cuts_small)),
    bundle_(bundle_of(
        orders_of(spec), channels_of(spec), usual_chunk(),
        environment.params.transfer_unit.count())),
    network_(
        environment, spec, spec.choice.protocol, shape_in(spec, max_chunk_),
        std::max(usual_chunk(), kGrain), bundle_, listener) {
    if (environment.functional) {
        buffers_.resize(spec.ranks.size());
        results_.resize(spec.ranks.size());
        network_.use_buffers(buffers_, results());
    }
    add_channels(environment.may_jump);
    const std::uint64_t touched = std::min(
        BlockNetwork::buffer_bytes(environment.params, spec.choice.protocol) * spec.choice.channels,
        2 * network_.wire(1024) * spec.bytes.count() / 1024);
    footprint_ = Bytes(touched);
}

std::uint32_t FifoCollective::lane_of_exchange(const BlockPlan& plan) const {
    const auto machine_of = [&](std::uint32_t member) {
        return spec_.layout.machine_of[spec_.stands_for != 0 ? spec_.ranks[member] : member];
    };
    const std::vector<std::uint32_t>& peers =
        plan.send_to.empty() ? plan.receive_from : plan.send_to;
    const std::uint32_t several = spec_.layout.machines.size() > 1 ? 1 : 0;
    if (peers.empty())
        return several + 1;
    return machine_of(peers.front()) == machine_of(plan.rank) ? several : 0;
}

void FifoCollective::add_channels(bool may_jump) {
    FoldedTrees trees;
    if (spec_.stands_for != 0 && along_trees(spec_)) {
        const std::size_t kept = spec_.ranks.size() / spec_.layout.machines.size();
        trees = fold_members(spec_.layout, spec_.trees, static_cast<std::uint32_t>(kept));
        network_.stand_at(trees.member_of);
    }
    const std::uint32_t channels = channels_of(spec_) / bundle_;
    std::uint32_t lanes = 0;
    std::uint32_t fifos = 0;  // of the channels so far, on the real machine
    for (std::uint32_t channel = 0; channel < channels; ++channel) {
        std::vector<BlockPlan> plans = plan(channel, channels);
        const std::uint32_t first = fifos;
        for (const BlockPlan& plan : plans)
            fifos += static_cast<std::uint32_t>(plan.receive_from.size());
        if (!trees.image.empty()) {
            const std::size_t tree = channel % trees.image.size();
            if (trees.image[tree] != tree)
                continue;
        } else if (spec_.stands_for != 0 && !is_exchange(spec_.kind)) {
            shorten(plans);
        }
        for (BlockPlan& plan : plans) {
            if (spec_.kind == CollectiveKind::kAllToAll ||
                spec_.kind == CollectiveKind::kSendReceive)
                plan.sm = (plan.round * channels + channel) %
                          std::max(1U, spec_.choice.channels / bundle_);
            plan.channel = is_exchange(spec_.kind) ? lane_of_exchange(plan) : lanes;
        }
        ++lanes;
        if (channel == 0 && may_jump && !plans.empty())
            count_turns(*plans.front().program, plans.size() * channels);
        network_.add_channel(std::move(plans), first);
    }
}

void FifoCollective::count_turns(const Program& first, std::size_t blocks) {
    constexpr std::uint64_t kManyLoops = 6;
    constexpr std::uint64_t kMostLoops = 4;   // per window
    constexpr std::uint64_t kMostSteps = 64;  // per window
    constexpr double kFewestOfExchange = 24;  // steps that show its motion
    constexpr std::uint64_t kManySteps = 96;
    constexpr std::uint32_t kManyChannels = 8;
    constexpr std::size_t kMostOfExchange = 1 << 15;  // blocks, each a part of the log
    // Kept ranks of an exchange do the same at the same time, and are few.
    constexpr std::uint64_t kWindowOfFold = 4;  // steps
    constexpr double kSettled = 0.1;
    constexpr double kDriftOfFold = 0.0025;
    constexpr std::uint64_t kLongLoop = 32;      // steps
    constexpr std::uint64_t kMostOfSection = 8;  // steps per window
    const std::uint64_t cycle = first.cycle();
    const std::uint64_t loops = first.skippable(cycle, {}) / cycle;
    if (cycle >= kLongLoop && loops < 2 * kManyLoops) {
        // With few loops, steps inside a half are skipped. The first half of an all-reduce reduces,
        // the second copies: two different motions.
        turns_.emplace(1, 2, kMostOfSection);
        turns_->set_section(spec_.kind == CollectiveKind::kAllReduce ? cycle / 2 : cycle);
    } else if (loops < kManyLoops) {
        return;
    } else if (cycle == 1) {
        const bool exchange = is_exchange(spec_.kind);
        const bool folded = exchange && spec_.stands_for != 0;
        // Where few pairs or steps are, the end of each weighs.
        if (exchange && (loops < (folded ? kManyOfFold : kManySteps) ||
                         spec_.choice.channels < kManyChannels || blocks > kMostOfExchange))
            return;
        turns_.emplace(1, folded ? kWindowOfFold : 1, kMostSteps);
        if (exchange)
            turns_->set_fewest(kFewestOfExchange);
        if (folded)
            turns_->set_settled(kSettled, kDriftOfFold);
    } else {
        turns_.emplace(cycle, cycle, cycle * kMostLoops);
    }
    network_.count_turns(*turns_);
}

std::vector<BlockPlan> FifoCollective::plan(std::uint32_t channel, std::uint32_t channels) const {
    const std::uint32_t n = spec_.size();
    const std::vector<std::uint32_t>& order = spec_.rings[channel % spec_.rings.size()];
    const std::uint64_t bytes = spec_.bytes.count();
    const std::uint64_t chunk = max_chunk_ * bundle_;
    Part whole = part_of_channel(bytes, channels, channel, kGrain);
    const std::uint64_t stride = spec_.share();
    const Part share = part_of_channel(stride, channels, channel, kGrain);
    switch (spec_.kind) {
    case CollectiveKind::kReduceScatter:
        return plan_ring_reduce_scatter(order, channel, share, chunk, stride);
    case CollectiveKind::kAllGather:
        return plan_ring_all_gather(order, channel, share, chunk, stride);
    case CollectiveKind::kBroadcast:
        return plan_ring_broadcast(order, spec_.root, channel, whole, chunk);
    case CollectiveKind::kReduce:
        return plan_ring_reduce(order, spec_.root, channel, whole, chunk);
    case CollectiveKind::kSendReceive:
        if (spec_.root == CollectiveSpec::kEveryRank)
            return plan_shift(
                static_cast<std::uint32_t>(spec_.ranks.size()), channel, whole, chunk);
        return plan_send_receive(spec_.root, 1 - spec_.root, channel, whole, chunk);
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
        return plan_gather(
            n, spec_.root, spec_.kind == CollectiveKind::kScatter, channel, share, stride, chunk);
    case CollectiveKind::kAllToAll:
        if (spec_.stands_for != 0)
            return plan_kept_all_to_all(kept_machines(), n, channel, share, stride, chunk);
        return plan_all_to_all(
            n, channel, [&](std::uint32_t, std::uint32_t) { return std::optional(share); }, stride,
            chunk);
    case CollectiveKind::kMoeDispatch:  // does not use FIFOs
    case CollectiveKind::kMoeCombine:
    case CollectiveKind::kAllReduce:
        break;
    }
    if (along_trees(spec_))
        return plan_tree_all_reduce(
            spec_.trees[channel % spec_.trees.size()], channel, whole, chunk,
            split_of(spec_.choice.protocol));
    if (spec_.stands_for != 0)  // ranks are alike only if all chunks are
        whole.bytes = (whole.bytes + n * kGrain - 1) / (n * kGrain) * (n * kGrain);
    return plan_ring_all_reduce(order, channel, whole, chunk, kGrain);
}

void FifoCollective::shorten(std::vector<BlockPlan>& plans) const {
    const auto count = static_cast<std::uint32_t>(spec_.ranks.size());
    plans.resize(count);
    for (BlockPlan& plan : plans) {
        plan.rank %= count;
        for (auto* peers : {&plan.receive_from, &plan.send_to})
            for (std::uint32_t& peer : *peers)
                peer %= count;
    }
}

}  // namespace

std::unique_ptr<RunningCollective> make_fifo_collective(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::string& /*refused*/) {
    return std::make_unique<FifoCollective>(environment, spec, listener);
}

}  // namespace switchfold
