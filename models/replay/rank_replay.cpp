// SPDX-License-Identifier: Apache-2.0
#include "models/replay/rank_replay.h"

#include "core/error.h"
#include "models/gpu/kernel_launch.h"

#include <fmt/format.h>

#include <type_traits>

namespace switchfold {

namespace {
// Tags hold the operation, and whether its gap or its host delay is over.
constexpr std::uint64_t kDelayOver = 1;
}  // namespace

RankReplay::RankReplay(
    const sc_core::sc_module_name& name, std::uint32_t rank, std::shared_ptr<const RankGraph> graph,
    Gpu& gpu, CopyEngine& copies, CollectiveService& collectives, Scheduler& scheduler) :
    sc_module(name),
    rank_(rank),
    graph_(std::move(graph)),
    gpu_(gpu),
    copies_(copies),
    collectives_(collectives),
    clock_(scheduler) {
    const auto& operations = graph_->operations;
    const std::size_t count = operations.size();
    times_.resize(count);
    states_.assign(count, State::kWaiting);
    waiting_for_.assign(count, 0);
    std::vector<std::uint32_t> last_on_stream(graph_->streams.size(), UINT32_MAX);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (std::uint32_t i = 0; i < count; ++i) {
        const Operation& operation = operations[i];
        for (const std::uint32_t dependency : operation.dependencies)
            edges.emplace_back(dependency, i);
        std::uint32_t& last = last_on_stream[operation.stream];
        if (last != UINT32_MAX)
            edges.emplace_back(last, i);
        last = i;
    }
    first_successor_.assign(count + 1, 0);
    for (const auto& [from, to] : edges) {
        ++first_successor_[from + 1];
        ++waiting_for_[to];
    }
    for (std::size_t i = 0; i < count; ++i)
        first_successor_[i + 1] += first_successor_[i];
    successors_.resize(edges.size());
    std::vector<std::uint32_t> next(first_successor_.begin(), first_successor_.end() - 1);
    for (const auto& [from, to] : edges)
        successors_[next[from]++] = to;
}

void RankReplay::start() {
    for (std::uint32_t i = 0; i < states_.size(); ++i)
        if (waiting_for_[i] == 0)
            ready(i);
}

void RankReplay::ready(std::uint32_t operation) {
    states_[operation] = State::kGap;
    clock_.after(graph_->operations[operation].gap, *this, std::uint64_t{operation} << 1U);
}

void RankReplay::on_event(std::uint64_t tag) {
    const auto operation = static_cast<std::uint32_t>(tag >> 1U);
    if ((tag & kDelayOver) != 0)
        end(operation);
    else
        run(operation);
}

void RankReplay::run(std::uint32_t index) {
    const Operation& operation = graph_->operations[index];
    states_[index] = State::kRunning;
    times_[index].start = clock_.now();
    const std::int32_t priority = graph_->streams[operation.stream].priority;
    std::visit(
        [&](const auto& body) {
            using Body = std::remove_cvref_t<decltype(body)>;
            if constexpr (std::is_same_v<Body, KernelOperation>) {
                for (Probe* probe : probes_)
                    probe->on_kernel_begin({rank_, index, body}, times_[index].start);
                gpu_.launch(launch_of(index, body, priority), *this);
            } else if constexpr (std::is_same_v<Body, CollectiveOperation>) {
                if (body.given > Time() && !body.holds_blocks)
                    clock_.after(body.given, *this, std::uint64_t{index} << 1U | kDelayOver);
                else
                    collectives_.start(rank_, index, body, priority, *this);
            } else if constexpr (std::is_same_v<Body, CopyOperation>) {
                copies_.start(index, body, *this);
            } else if constexpr (std::is_same_v<Body, HostDelayOperation>) {
                const Time now = clock_.now();
                const Time delay =
                    body.shared ? host_->serve(now, body.duration) - now : body.duration;
                clock_.after(delay, *this, std::uint64_t{index} << 1U | kDelayOver);
            } else {
                constexpr bool kSends = std::is_same_v<Body, SendOperation>;
                const TransferEnd end{
                    kSends ? rank_ : body.peer, kSends ? body.peer : rank_, body.bytes, body.tag};
                collectives_.start_transfer(rank_, index, end, priority, *this);
            }
        },
        operation.body);
}

void RankReplay::end(std::uint32_t index) {
    SWITCHFOLD_CHECK(states_[index] == State::kRunning, "operation {} ends twice", index);
    states_[index] = State::kEnded;
    times_[index].end = clock_.now();
    ++ended_;
    if (const auto* kernel = std::get_if<KernelOperation>(&graph_->operations[index].body))
        for (Probe* probe : probes_)
            probe->on_kernel_end({rank_, index, *kernel}, times_[index].end);
    for (std::uint32_t s = first_successor_[index]; s < first_successor_[index + 1]; ++s)
        if (--waiting_for_[successors_[s]] == 0)
            ready(successors_[s]);
}

std::vector<RankReplay::Blocked> RankReplay::blocked(std::size_t limit) const {
    std::vector<Blocked> found;
    for (std::uint32_t i = 0; i < states_.size() && found.size() < limit; ++i)
        if (states_[i] == State::kRunning || states_[i] == State::kGap)
            found.push_back({i, "has started and not ended"});
    return found;
}

}  // namespace switchfold
