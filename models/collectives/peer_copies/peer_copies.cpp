// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/ring_queue.h"
#include "models/collectives/group_collective.h"
#include "models/collectives/peer_copies/program.h"
#include "models/collectives/peer_copies/wiring.h"
#include "models/gpu/copy_listener.h"
#include "models/gpu/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace switchfold {

namespace {

CopyProgram program_of(const CollectiveSpec& spec) {
    const auto members = static_cast<std::uint32_t>(spec.ranks.size());
    const PeerCopyPolicy& copies = spec.choice.of<PeerCopyPolicy>();
    const std::uint64_t all = spec.bytes.count() / spec.element_bytes;
    const std::uint64_t elements = copies.arrays == 0 ? copies.array.count() / spec.element_bytes
                                                      : (all + copies.arrays - 1) / copies.arrays;
    const std::uint64_t most = std::max<std::uint64_t>(1, elements) * spec.element_bytes;
    std::vector<std::uint64_t> arrays = cut_into_arrays(spec.bytes.count(), most);
    if (spec.choice.algorithm == Algorithm::kHost)
        return exchange_by_host(members, std::move(arrays));
    if (spec.choice.algorithm == Algorithm::kTopologyTree)
        return exchange_by_trees(std::move(arrays), spec.reduce_trees);
    return exchange_by_owners(members, std::move(arrays), copies.owners);
}

/// An all-reduce as implemented by a framework: copies between GPUs or to the host and back, and
/// sums by kernels or host threads, each called when it can begin. A GPU has a few copies in flight
/// at a time and adds one array after another; host threads take whatever is ready. Copies between
/// GPUs move piece by piece and occupy all links of their routes, like copies to the host. Sums on
/// a GPU are kernels of it, beside those of the workload.
class PeerCopies final : public GroupCollective,
                         private EventHandler,
                         private CopyListener,
                         private KernelListener {
public:
    PeerCopies(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::unique_ptr<ReductionGroup> group) :
        GroupCollective(environment, spec, listener, std::move(group)),
        params_(environment.params.peer_copies),
        pageable_(spec.choice.of<PeerCopyPolicy>().memory == HostMemory::kPageable),
        program_(program_of(spec)),
        paths_(environment.fabric.topology()),
        states_(program_.steps.size()),
        members_(n_),
        lanes_(2UL * n_ + 1) {
        for (std::uint32_t member = 0; member < n_; ++member)
            lanes_[copies_of(member)].free = params_.at_once;
        lanes_.back().free = spec.choice.of<PeerCopyPolicy>().host_threads;
        for (std::uint32_t i = 0; i < program_.steps.size(); ++i) {
            const CopyStep& step = program_.steps[i];
            states_[i].waits = static_cast<std::uint32_t>(step.after.size());
            for (const std::uint32_t before : step.after)
                states_[before].next.push_back(i);
            for (const std::uint32_t member : members_of(step)) {
                ++states_[i].waits;
                members_[member].steps.push_back(i);
            }
        }
        offsets_.assign(1, 0);
        for (const std::uint64_t bytes : program_.arrays)
            offsets_.push_back(offsets_.back() + bytes);
    }

    void join(std::uint32_t position, Time start) override {
        make_room(position);
        if (functional_)
            results_[position] = buffers_[position];
        post(Stage::kJoin, position, start);
    }
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override;
    [[nodiscard]] Bytes footprint() const override { return {}; }

private:
    enum class Stage : std::uint8_t { kJoin, kBegin, kPiece, kEnd };
    struct State {
        std::uint32_t waits =
            0;  ///< number of steps, and members that have not joined, that it waits for
        std::vector<std::uint32_t> next;
        std::uint64_t moved = 0;
        bool ended = false;
    };
    struct Member {
        std::vector<std::uint32_t> steps;
        std::size_t ended = 0;
        std::map<std::uint32_t, std::vector<std::vector<float>>> come;  ///< by array
    };
    struct Lane {
        std::uint32_t free = 1;
        RingQueue<std::uint32_t> ready;  ///< in the order in which they could begin
    };
    /// Path between two members.
    struct PairWay {
        std::vector<LinkUse> links;
        Time latency;
    };

    void on_event(std::uint64_t tag) override;
    void on_copy_end(std::uint32_t id) override { end(id); }
    void on_kernel_end(std::uint32_t id) override { end(id); }
    void on_packet(const Packet& /*packet*/, std::uint32_t /*rank*/, Time /*visible*/) override {}
    std::uint32_t supply(const Packet& /*packet*/, std::uint32_t /*rank*/) override { return 0; }
    void on_departure(std::uint64_t /*tag*/, Time /*departure*/) override {}

    void post(Stage stage, std::uint32_t index, Time due) {
        scheduler_.at(
            std::max(due, scheduler_.now()), *this,
            static_cast<std::uint64_t>(stage) << 56U | index);
    }
    [[nodiscard]] static std::vector<std::uint32_t> members_of(const CopyStep& step) {
        if (step.kind == CopyStep::Kind::kHostSum)
            return {};
        if (step.from == step.to)
            return {step.to};
        return {step.from, step.to};
    }
    [[nodiscard]] std::size_t copies_of(std::uint32_t member) const { return member; }
    [[nodiscard]] std::size_t lane_of(const CopyStep& step) const;
    void one_less(std::uint32_t step);
    void pump(std::size_t lane);
    void begin(std::uint32_t step);
    void move_piece(std::uint32_t step);
    void end(std::uint32_t step);
    const PairWay& pair(std::uint32_t from, std::uint32_t to);
    void carry_values(const CopyStep& step);

    const PeerCopyParams& params_;
    bool pageable_;
    CopyProgram program_;
    PathFinder paths_;
    std::vector<State> states_;
    std::vector<Member> members_;
    std::vector<Lane> lanes_;  ///< copies of each member, sums of each member, the host's threads
    std::vector<std::uint64_t> offsets_;  ///< of arrays in the buffer
    std::map<std::pair<std::uint32_t, std::uint32_t>, PairWay> pairs_;
    std::map<std::uint32_t, std::vector<std::vector<float>>> host_;  ///< values received, by array
};

std::size_t PeerCopies::lane_of(const CopyStep& step) const {
    switch (step.kind) {
    case CopyStep::Kind::kPeerCopy:
        return copies_of(step.from);
    case CopyStep::Kind::kSum:
        return n_ + step.to;
    case CopyStep::Kind::kHostSum:
        break;
    case CopyStep::Kind::kToHost:
    case CopyStep::Kind::kToDevice:
        if (!pageable_)
            return copies_of(step.to);
        break;
    }
    return lanes_.size() - 1;
}

void PeerCopies::on_event(std::uint64_t tag) {
    const auto index = static_cast<std::uint32_t>(tag);
    switch (static_cast<Stage>(tag >> 56U)) {
    case Stage::kJoin:
        if (members_[index].steps.empty())
            return listener_.on_member_done(index, scheduler_.now());
        for (const std::uint32_t step : members_[index].steps)
            one_less(step);
        return;
    case Stage::kBegin:
        return begin(index);
    case Stage::kPiece:
        return move_piece(index);
    case Stage::kEnd:
        return end(index);
    }
}

void PeerCopies::one_less(std::uint32_t step) {
    if (--states_[step].waits > 0)
        return;
    const std::size_t lane = lane_of(program_.steps[step]);
    lanes_[lane].ready.push_back(step);
    pump(lane);
}

void PeerCopies::pump(std::size_t index) {
    Lane& lane = lanes_[index];
    while (lane.free > 0 && !lane.ready.empty()) {
        const std::uint32_t step = lane.ready.front();
        lane.ready.pop_front();
        --lane.free;
        post(Stage::kBegin, step, scheduler_.now() + params_.call);
    }
}

void PeerCopies::begin(std::uint32_t index) {
    const CopyStep& step = program_.steps[index];
    const std::uint64_t bytes = program_.arrays[step.array];
    switch (step.kind) {
    case CopyStep::Kind::kPeerCopy:
        return move_piece(index);
    case CopyStep::Kind::kSum:
        return port(step.to).add_arrays(index, bytes * step.terms, bytes, *this);
    case CopyStep::Kind::kHostSum: {
        const Bandwidth share(
            params_.host_memory.count() /
            std::max(1U, spec_.choice.of<PeerCopyPolicy>().host_threads));
        const Bandwidth rate = std::min(params_.host_add, share);
        return post(
            Stage::kEnd, index,
            scheduler_.now() + serialization_time(Bytes(bytes * (step.terms + 1)), rate));
    }
    case CopyStep::Kind::kToHost:
    case CopyStep::Kind::kToDevice:
        break;
    }
    CopyOperation copy;
    copy.kind =
        step.kind == CopyStep::Kind::kToHost ? CopyKind::kDeviceToHost : CopyKind::kHostToDevice;
    copy.bytes = Bytes(bytes);
    if (pageable_)
        copy.isolated = serialization_time(copy.bytes, params_.pageable);
    port(step.to).copy(index, copy, *this);
}

const PeerCopies::PairWay& PeerCopies::pair(std::uint32_t from, std::uint32_t to) {
    PairWay& way = pairs_[{from, to}];
    if (!way.links.empty())
        return way;
    way.latency = this->way(from, to).latency;  // throws if there is no route
    way.links = links_between(paths_, spec_.ranks[from], spec_.ranks[to]);
    return way;
}

void PeerCopies::move_piece(std::uint32_t index) {
    const CopyStep& step = program_.steps[index];
    State& state = states_[index];
    const std::uint64_t bytes = program_.arrays[step.array];
    const PairWay& way = pair(step.from, step.to);
    const auto piece = std::min<std::uint64_t>(bytes - state.moved, params_.outstanding.count());
    state.moved += piece;
    Time passed = std::max(port(step.from).access(piece, 0), port(step.to).access(0, piece));
    for (const LinkUse& use : way.links) {
        Link& link = *fabric_.links()[use.link];
        const auto part = static_cast<std::uint32_t>(use.share * static_cast<double>(piece));
        passed = std::max(
            passed, link.carry(part, link.format().wire_bytes(PacketKind::kCopyWrite, part)));
    }
    if (state.moved < bytes)
        post(Stage::kPiece, index, passed);
    else
        post(Stage::kEnd, index, passed + way.latency);
}

void PeerCopies::end(std::uint32_t index) {
    const CopyStep& step = program_.steps[index];
    State& state = states_[index];
    SWITCHFOLD_CHECK(!state.ended, "step {} ends twice", index);
    state.ended = true;
    if (functional_)
        carry_values(step);
    const std::size_t lane = lane_of(step);
    ++lanes_[lane].free;
    for (const std::uint32_t next : state.next)
        one_less(next);
    pump(lane);
    for (const std::uint32_t member : members_of(step))
        if (++members_[member].ended == members_[member].steps.size())
            listener_.on_member_done(member, scheduler_.now());
}

/// Functional mode: applies the step to the values.
void PeerCopies::carry_values(const CopyStep& step) {
    const std::size_t from = offsets_[step.array] / spec_.element_bytes;
    const std::size_t to = offsets_[step.array + 1] / spec_.element_bytes;
    const auto part = [&](std::uint32_t member) {
        return std::vector<float>(
            results_[member].begin() + static_cast<std::ptrdiff_t>(from),
            results_[member].begin() + static_cast<std::ptrdiff_t>(to));
    };
    const auto keep = [&](std::uint32_t member, const std::vector<float>& values) {
        std::copy(
            values.begin(), values.end(),
            results_[member].begin() + static_cast<std::ptrdiff_t>(from));
    };
    const auto sum_up = [&](std::vector<float> sum, const std::vector<std::vector<float>>& terms) {
        for (const auto& term : terms)
            for (std::size_t i = 0; i < sum.size(); ++i)
                sum[i] = round_to(spec_.element, sum[i] + term[i]);
        return sum;
    };
    switch (step.kind) {
    case CopyStep::Kind::kPeerCopy:
        if (step.sum)
            keep(step.to, part(step.from));
        else
            members_[step.to].come[step.array].push_back(part(step.from));
        return;
    case CopyStep::Kind::kSum:
        return keep(step.to, sum_up(part(step.to), members_[step.to].come[step.array]));
    case CopyStep::Kind::kToHost:
        return host_[step.array].push_back(part(step.from));
    case CopyStep::Kind::kHostSum: {
        auto& come = host_[step.array];
        come = {sum_up(std::vector<float>(to - from, 0.0F), come)};
        return;
    }
    case CopyStep::Kind::kToDevice:
        return keep(step.to, host_[step.array].front());
    }
}

std::vector<std::string> PeerCopies::blocked(std::size_t limit) const {
    std::vector<std::string> lines;
    for (std::uint32_t member = 0; member < n_ && lines.size() < limit; ++member)
        if (members_[member].ended < members_[member].steps.size())
            lines.push_back(fmt::format(
                "rank {}: {} of its {} copies and sums have not ended", spec_.ranks[member],
                members_[member].steps.size() - members_[member].ended,
                members_[member].steps.size()));
    return lines;
}

}  // namespace

std::unique_ptr<RunningCollective> make_peer_copies(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::string& refused) {
    return make_group_collective<PeerCopies>(environment, spec, listener, refused);
}

}  // namespace switchfold
