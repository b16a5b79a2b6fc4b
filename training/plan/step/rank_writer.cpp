// SPDX-License-Identifier: Apache-2.0
#include "training/plan/step/rank_writer.h"

#include "training/plan/schedule/pass_needs.h"
#include "workloads/graph/execution_graph.h"
#include "workloads/kernels/memory_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

namespace switchfold {

namespace {

Phase phase_of(PassKind kind) {
    return kind == PassKind::kForward  ? Phase::kForward
           : kind == PassKind::kUpdate ? Phase::kOptimizer
                                       : Phase::kBackward;
}

/// Tag that matches the two ends of a message.
std::uint64_t tag_of(const Pass& pass, const PipelineSchedule& schedule) {
    return (std::uint64_t{pass.micro_batch} * schedule.stages() + pass.stage) * 2 +
           (pass.kind == PassKind::kForward ? 0 : 1);
}

}  // namespace

bool passes_meet(const TrainingStep& step) {
    const ParallelPlan& plan = step.plan();
    const LaunchTimes& launches = plan.launch_times;
    const bool hosts_wait = !launches.any() || launches.wait_after_pass ||
                            (plan.messages == Messages::kBlocking && plan.pipeline > 1);
    // A message's kernel that is posted a pass ahead holds thread blocks beside that pass.
    const bool messages_wait = plan.pipeline > 1 && plan.messages == Messages::kAhead;
    return (plan.data * plan.context > 1 && plan.sharding >= Sharding::kGradients) ||
           plan.expert > 1 || !hosts_wait || messages_wait;
}

RankWriter::RankWriter(
    const StepParts& parts, std::uint32_t rank, Communicators& groups, NameTable& names,
    LayerMemory* memory) :
    parts_(parts),
    rank_(rank),
    device_(parts.map.place(rank).device),
    memory_(memory),
    writer_(parts.map, rank, parts.plan.launch_times, groups, names) {}

RankGraph RankWriter::write() {
    mark_last_gradients();
    mark_alone();
    for (std::size_t at = 0; at < parts_.schedule.order[device_].size(); ++at)
        slot(at);
    if (memory_ != nullptr)
        memory_->end();
    return writer_.take();
}

/// Marks the passes whose gradients are the last before an update: these gradients are reduced
/// beside the pass.
void RankWriter::mark_last_gradients() {
    const std::vector<Slot>& order = parts_.schedule.order[device_];
    last_gradients_.assign(order.size(), false);
    std::map<std::uint32_t, bool> wanted;  // whether an update of the stage follows, by stage
    for (std::size_t at = order.size(); at-- > 0;) {
        const auto mark = [&](const Pass& pass) {
            if (pass.kind == PassKind::kUpdate) {
                wanted[pass.stage] = true;
            } else if (
                (pass.kind == PassKind::kBackward || pass.kind == PassKind::kWeightGradient) &&
                wanted[pass.stage]) {
                last_gradients_[at] = true;
                wanted[pass.stage] = false;
            }
        };
        mark(order[at].pass);
        if (order[at].beside)
            mark(*order[at].beside);
    }
}

/// Marks the passes beside which no collective of replicas runs, and no other pass. From the last
/// gradients to the update, buckets are reduced beside whatever runs on the device.
void RankWriter::mark_alone() {
    const std::vector<Slot>& order = parts_.schedule.order[device_];
    const bool folded = parts_.fold != nullptr && !passes_meet(parts_.step);
    alone_.resize(order.size());
    for (std::size_t at = 0; at < order.size(); ++at)
        alone_[at] = folded && !order[at].beside;
    const ParallelPlan& plan = parts_.plan;
    if (!folded || !plan.overlap_gradients || plan.data * plan.context == 1)
        return;
    bool reduces = false;
    for (std::size_t at = 0; at < order.size(); ++at) {
        reduces = order[at].pass.kind != PassKind::kUpdate && (reduces || last_gradients_[at]);
        alone_[at] = alone_[at] && !reduces;
    }
}

std::vector<std::uint32_t>
RankWriter::holders(const std::vector<std::uint32_t>& stages, bool replicas) const {
    std::set<std::uint32_t> devices;
    for (const std::uint32_t stage : stages)
        devices.merge(parts_.schedule.devices_with(stage));
    std::set<std::uint32_t> ranks;
    for (const std::uint32_t device : devices) {
        const std::uint32_t like = peer(device);
        ranks.insert(like);
        if (replicas)
            for (const std::uint32_t rank : parts_.map.replicas(like))
                ranks.insert(rank);
    }
    return {ranks.begin(), ranks.end()};
}

const Team& RankWriter::team(Weights weights) {
    const auto [at, fresh] = teams_.try_emplace(weights);
    if (!fresh)
        return at->second;
    // One communicator serves all stages if their ranks visit them in the same order. In
    // bidirectional pipelines the orders differ, so each stage has its own.
    const bool one_way = parts_.schedule.routes.size() == 1;
    std::vector<std::uint32_t> ranks = holders({weights.stage}, true);
    if (weights.experts) {
        std::erase_if(ranks, [&](std::uint32_t rank) {
            return parts_.map.expert_place(rank) != parts_.map.expert_place(rank_);
        });
    }
    const char* what = weights.experts ? "gradients of experts" : "gradients";
    at->second = {
        one_way ? what : fmt::format("{} of stage {}", what, weights.stage), std::move(ranks)};
    return at->second;
}

double RankWriter::parameters(Weights weights) const {
    const double experts = parts_.work.expert_parameters(weights.stage);
    return weights.experts ? experts : parts_.work.parameters(weights.stage) - experts;
}

std::uint32_t RankWriter::peer(std::uint32_t device) const {
    RankPlace place = parts_.map.place(rank_);
    place.device = device;
    return parts_.map.rank(place);
}

std::uint32_t RankWriter::round_of(const Pass& pass) const {
    return parts_.schedule.asynchronous ? pass.micro_batch : 0;
}

void RankWriter::slot(std::size_t at) {
    const std::vector<Slot>& order = parts_.schedule.order[device_];
    const Slot& slot = order[at];
    // Both lanes wait for the end of both.
    std::vector<Index> previous = writer_.ends(0);
    const std::vector<Index> other = writer_.ends(1);
    previous.insert(previous.end(), other.begin(), other.end());
    // Receives are posted when their pass is next, or beside a pass of the other direction: between
    // two of one direction, Megatron-LM sends what it has before it receives (schedules.py,
    // forward_backward_pipelining_with_interleaving).
    const bool alike = at > 0 && order[at - 1].pass.kind == slot.pass.kind;
    if (parts_.plan.messages != Messages::kAhead || alike)
        before_ = previous;
    if (parts_.plan.messages == Messages::kBlocking) {
        previous.insert(previous.end(), sends_.begin(), sends_.end());
        host_waits_ = sends_;
    }
    sends_.clear();
    for (const Index end : previous)
        writer_.wait_for(0, end);
    follows_forward_ =
        at > 0 && !slot.beside && !order[at - 1].beside &&
        order[at - 1].pass == Pass{PassKind::kForward, slot.pass.micro_batch, slot.pass.stage};
    if (slot.beside) {
        for (const Index end : previous)
            writer_.wait_for(1, end);
        pass(1, *slot.beside, last_gradients_[at], alone_[at]);
    }
    if (slot.pass.kind == PassKind::kUpdate) {
        if (!alike)
            before_updates(at);
        host_waits();
        update(slot.pass);
    } else {
        pass(0, slot.pass, !slot.beside && last_gradients_[at], alone_[at]);
    }
    before_ = previous;
}

void RankWriter::receive(std::size_t lane, const Pass& pass) {
    const auto from = sender_to(parts_.schedule, pass);
    if (!from)
        return;
    const bool forward = pass.kind == PassKind::kForward;
    const Index index = writer_.message(
        fmt::format("receive {}{}", forward ? "f" : "b", pass.stage),
        forward ? "receive activations" : "receive gradients", false,
        peer(parts_.schedule.device_of(*from)),
        parts_.step.work(pass.micro_batch).message(std::min(from->stage, pass.stage)),
        tag_of(*from, parts_.schedule), phase_of(pass.kind), before_);
    writer_.wait_for(lane, index);
    if (parts_.plan.messages == Messages::kBlocking)
        host_waits_.push_back(index);
}

/// Makes the host wait for the previous slot's sends and this slot's receives, which are issued
/// together.
void RankWriter::host_waits() {
    for (const Index message : std::exchange(host_waits_, {}))
        writer_.host_waits_for(message);
}

void RankWriter::send(std::size_t lane, const Pass& pass) {
    const auto to = receiver_of(parts_.schedule, pass);
    if (!to)
        return;
    const bool forward = pass.kind == PassKind::kForward;
    sends_.push_back(writer_.message(
        fmt::format("send {}{}", forward ? "f" : "b", pass.stage),
        forward ? "send activations" : "send gradients", true, peer(parts_.schedule.device_of(*to)),
        parts_.step.work(pass.micro_batch).message(std::min(to->stage, pass.stage)),
        tag_of(pass, parts_.schedule), phase_of(pass.kind), writer_.ends(lane)));
}

/// Reads the weights and their average gradient, writes the predicted weights.
void RankWriter::predict(std::size_t lane, const Pass& pass, Phase phase) {
    const WeightPolicy policy = parts_.plan.weights;
    const bool forward = pass.kind == PassKind::kForward;
    const bool first = pass.micro_batch % parts_.plan.update_every == 0;
    const bool here = policy == WeightPolicy::kPredict ||
                      (policy == WeightPolicy::kPredictOnce && forward) ||
                      (policy == WeightPolicy::kPipeMare && !forward) ||
                      (policy == WeightPolicy::kXpipe && first);
    if (!here || pass.kind == PassKind::kWeightGradient)
        return;
    const std::array<Weights, 2> kinds{Weights{pass.stage, false}, Weights{pass.stage, true}};
    double held = 0;
    for (const Weights& weights : kinds)
        held += updated(parameters(weights), weights);
    MemoryKernel kernel;
    kernel.read = 2 * kSingleBytes * held;
    kernel.written = kSingleBytes * held;
    kernel.flops = 2 * held;
    writer_.kernel(lane, "predict weights", phase, parts_.times.estimate(kernel).kernel);
    // Who has a part of the average gradient predicts a part of the weights. Sharded weights are
    // gathered by the pass.
    if (parts_.plan.sharding == Sharding::kOptimizer ||
        parts_.plan.sharding == Sharding::kGradients)
        for (const Weights& weights : kinds)
            if (const auto gathered = writer_.collective(
                    "gather predicted weights", CollectiveKind::kAllGather,
                    bytes_of(parameters(weights) * element_bytes(parts_.plan.datatype)),
                    parts_.plan.datatype, team(weights), phase, writer_.ends(lane)))
                writer_.wait_for(lane, *gathered);
}

void RankWriter::pass(std::size_t lane, const Pass& pass, bool last_gradients, bool as_kernel) {
    const Phase phase = phase_of(pass.kind);
    const bool reduces = last_gradients || parts_.plan.sharding >= Sharding::kGradients;
    receive(lane, pass);
    host_waits();
    // A pass behind a host that waits begins when that begins to call.
    const bool with_calls = as_kernel || parts_.plan.launch_times.wait_after_pass;
    Index first = with_calls ? writer_.next_call() : writer_.next();
    predict(lane, pass, phase);
    if (as_kernel)
        one_kernel(lane, pass, phase);
    else
        first = work(lane, pass, phase, reduces, first);
    if (parts_.plan.launch_times.wait_after_pass)
        for (const Index end : writer_.ends(lane))
            writer_.host_waits_for(end);
    const auto ended = writer_.last(lane);
    if (reduces && parts_.plan.overlap_gradients && phase == Phase::kBackward &&
        pass.kind != PassKind::kInputGradient) {
        closed_unit_.reset();
        for (const bool experts : {false, true})
            flush({pass.stage, experts}, lane, phase);
    }
    if (ended && *ended >= first)
        writer_.span(to_string(pass), first, *ended, round_of(pass), phase);
    send(lane, pass);
}

/// Writes a pass as one kernel, which takes the pass's peak memory at its begin.
void RankWriter::one_kernel(std::size_t lane, const Pass& pass, Phase phase) {
    const Index index = writer_.one_kernel(lane, to_string(pass.kind), phase);
    parts_.fold->pass(rank_, index, pass);
    struct Taken {
        std::int64_t now = 0;
        std::int64_t most = 0;
    };
    std::array<Taken, kMemoryClasses.size()> taken;
    for (const WorkItem& item : parts_.step.work(pass.micro_batch).work(pass.kind, pass.stage))
        if (const auto* change = std::get_if<HoldItem>(&item)) {
            Taken& of_class = taken[static_cast<std::size_t>(change->what)];
            of_class.now += change->bytes;
            of_class.most = std::max(of_class.most, of_class.now);
        }
    for (const MemoryClassText& memory : kMemoryClasses) {
        const Taken& of_class = taken[static_cast<std::size_t>(memory.value)];
        writer_.memory(memory.value, of_class.most, index, false);
        writer_.memory(memory.value, of_class.now - of_class.most, index, true);
    }
}

/// \returns where the pass begins, at `first` or behind weights that are gathered before anything
/// else: they may be there long before its message is.
RankWriter::Index
RankWriter::work(std::size_t lane, const Pass& pass, Phase phase, bool reduces, Index first) {
    const bool with_calls = parts_.plan.launch_times.wait_after_pass;
    bool in_layer = false;
    const auto end_layer = [&] {
        if (std::exchange(in_layer, false))
            memory_->after(writer_, lane, phase);
    };
    for (const WorkItem& item : parts_.step.work(pass.micro_batch).work(pass.kind, pass.stage)) {
        if (writer_.layer_work(lane, item, phase))
            continue;
        if (const auto* layer = std::get_if<LayerItem>(&item)) {
            end_layer();
            in_layer = memory_ != nullptr;
            if (in_layer)
                memory_->before(writer_, lane, layer->layer, phase);
        } else if (const auto* gather = std::get_if<GatherItem>(&item)) {
            end_layer();
            this->gather(lane, *gather, pass, phase);
            if (!writer_.last_kernel(lane) || *writer_.last_kernel(lane) < first)
                first = with_calls ? writer_.next_call() : writer_.next();
        } else if (const auto* held = std::get_if<HoldItem>(&item)) {
            if (memory_ == nullptr)
                writer_.memory(
                    held->what, held->bytes,
                    held->at_end ? writer_.last(lane).value() : writer_.next(), held->at_end);
        } else {
            gradients_ready(lane, std::get<GradientsItem>(item).layer, reduces);
        }
    }
    end_layer();
    return first;
}

}  // namespace switchfold
