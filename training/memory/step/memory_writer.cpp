// SPDX-License-Identifier: Apache-2.0
#include "training/memory/step/memory_writer.h"

#include "core/error.h"
#include "workloads/kernels/memory_kernel.h"

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

Phase phase_of(UseKind kind) {
    return kind == UseKind::kForward  ? Phase::kForward
           : kind == UseKind::kUpdate ? Phase::kOptimizer
                                      : Phase::kBackward;
}

PassKind pass_of(UseKind kind) {
    return kind == UseKind::kForward    ? PassKind::kForward
           : kind == UseKind::kBackward ? PassKind::kBackward
                                        : PassKind::kUpdate;
}

void append(std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& more) {
    to.insert(to.end(), more.begin(), more.end());
}

bool has_kernels(const Work& work) {
    return std::any_of(work.begin(), work.end(), [](const WorkItem& item) {
        return std::holds_alternative<KernelItem>(item);
    });
}

}  // namespace

MemoryStepParts::MemoryStepParts(
    const TrainingStep& planned_step, const StepMemory& planned_memory) :
    step(planned_step),
    memory(planned_memory),
    once(without_recompute(step.plan())),
    map(step.plan()),
    layers(layer_by_layer(step.network(), step.times(), once)),
    moves(memory),
    gathers(gathers_of(step.work(), memory.facts.options.again)) {}

MemoryWriter::MemoryWriter(
    const MemoryStepParts& parts, std::uint32_t rank, Communicators& groups, NameTable& names) :
    parts_(parts),
    choice_(parts.memory.choice),
    writer_(parts.map, rank, parts.step.plan().launch_times, groups, names),
    copies_(parts.moves, writer_),
    teams_(gradient_teams(parts.map, rank)),
    gradients_(parts.memory.groups, parts.memory.gradients),
    ready_(parts.memory.groups.size()) {
    for (const GradientGroup& group : parts.memory.groups)
        left_.push_back(group.owners.size());
}

RankGraph MemoryWriter::write() {
    for (const LayerUse& step : parts_.memory.schedule.steps) {
        const Phase phase = phase_of(step.kind);
        micro_batch_ = step.micro_batch;
        const Indices data = copies_.prefetch(phase);
        const auto gather = parts_.gathers.find({step.kind, step.layer});
        if (gather != parts_.gathers.end())
            writer_.gather(
                0, {{gather->second.bytes, teams_[0]}, {gather->second.experts, teams_[1]}},
                parts_.step.plan().datatype, phase);
        const Index first = writer_.next();
        if (step.kind == UseKind::kForward || step.kind == UseKind::kAgain)
            forward(step, data);
        else if (step.kind == UseKind::kBackward)
            backward(step, data);
        else
            update(step, data);
        // Gathers that a later layer waits for do not end this one.
        const bool here =
            std::any_of(ended_.begin(), ended_.end(), [&](Index index) { return index >= first; });
        if (!parts_.gathers.empty() && here)
            std::erase_if(ended_, [&](Index index) { return index < first; });
        copies_.laid(first, ended_);
        if (writer_.next() > first) {
            const UseKind kind = step.kind == UseKind::kAgain ? UseKind::kBackward : step.kind;
            Range& pass =
                passes_.try_emplace({step.micro_batch, kind}, Range{first, first}).first->second;
            pass.last = std::max(pass.last, writer_.latest());
        }
        Indices freeing = writer_.ends(0);
        if (last_update_)
            freeing.push_back(*last_update_);
        copies_.offload(ended_, std::move(freeing), phase);
    }
    spans();
    copies_.memory();
    return writer_.take();
}

void MemoryWriter::work(PassKind kind, std::uint32_t layer, Phase phase) {
    for (const WorkItem& item : parts_.layers.work(kind, layer))
        writer_.layer_work(0, item, phase);
}

void MemoryWriter::forward(const LayerUse& step, const Indices& data) {
    for (const Index index : data)
        writer_.wait_for(0, index);
    work(PassKind::kForward, step.layer, phase_of(step.kind));
    ended_ = writer_.ends(0);
}

void MemoryWriter::backward(const LayerUse& step, const Indices& data) {
    for (const Index index : data)
        writer_.wait_for(0, index);
    const std::uint32_t layer = step.layer;
    // Without a separate weight-gradient kernel, the weight gradient is computed with the input
    // gradient.
    const bool apart = has_kernels(parts_.layers.work(PassKind::kWeightGradient, layer));
    const auto input_gradient = [&] { work(PassKind::kInputGradient, layer, Phase::kBackward); };
    if (apart && choice_.updates != UpdatePolicy::kOverlapped) {
        input_gradient();
        weight_gradient(layer);
    } else if (apart) {
        weight_gradient(layer);
        complete_gradients(layer);
        input_gradient();
    } else {
        take_gradients(layer);
        input_gradient();
    }
    ended_ = writer_.ends(0);
    if (!apart || choice_.updates != UpdatePolicy::kOverlapped)
        complete_gradients(layer);
}

void MemoryWriter::weight_gradient(std::uint32_t layer) {
    take_gradients(layer);
    work(PassKind::kWeightGradient, layer, Phase::kBackward);
}

/// Gradients of later micro-batches are added to those of the first.
void MemoryWriter::take_gradients(std::uint32_t layer) {
    if (micro_batch_ > 0)
        return;
    const std::vector<GradientGroup>& groups = parts_.memory.groups;
    for (std::size_t group = 0; group < groups.size(); ++group)
        if (groups[group].layers.front() == layer)
            take(group);
}

void MemoryWriter::take(std::size_t group) {
    if (const auto wait = gradients_.take(group))
        writer_.wait_for(0, *wait);
    const auto bytes = static_cast<std::int64_t>(parts_.memory.groups[group].bytes);
    writer_.memory(MemoryClass::kGradients, bytes, writer_.next(), false);
}

void MemoryWriter::give_back(std::size_t group, Index operation) {
    gradients_.give_back(group, operation);
    const auto bytes = static_cast<std::int64_t>(parts_.memory.groups[group].bytes);
    writer_.memory(MemoryClass::kGradients, -bytes, operation, true);
}

/// Reduces gradients that this layer completes, or leaves them until the pass has ended.
void MemoryWriter::complete_gradients(std::uint32_t layer) {
    if (micro_batch_ + 1 < parts_.step.plan().accumulate)
        return;
    const std::vector<GradientGroup>& groups = parts_.memory.groups;
    for (std::size_t group = 0; group < groups.size(); ++group)
        if (groups[group].layers.back() == layer)
            unsent_.push_back(group);
    if (!parts_.step.plan().overlap_gradients && layer != 0)
        return;
    for (const std::size_t group : std::exchange(unsent_, {})) {
        ready_[group] = writer_.ends(0);
        if (const auto reduced = reduce(group, ready_[group]))
            ready_[group] = {*reduced};
        append(all_ready_, ready_[group]);
        if (choice_.updater == Updater::kHost)
            to_host(group, ready_[group]);
    }
}

std::optional<MemoryWriter::Index> MemoryWriter::reduce(std::size_t group, Indices ready) {
    // A rank updates its part, or sends it to its host.
    const bool parts = choice_.updater == Updater::kHost || sharded();
    return writer_.collective(
        parts ? "scatter gradients" : "reduce gradients",
        parts ? CollectiveKind::kReduceScatter : CollectiveKind::kAllReduce,
        Bytes(parts_.memory.groups[group].bytes), parts_.step.plan().gradient, team(group),
        Phase::kBackward, std::move(ready));
}

Bytes MemoryWriter::part(std::size_t group, std::uint64_t bytes) const {
    const std::uint64_t ranks = team(group).ranks.size();
    return Bytes((bytes + ranks - 1) / ranks);
}

/// Copies each rank's part to its host.
void MemoryWriter::to_host(std::size_t group, Indices ready) {
    const Index out = writer_.host_copy(
        "gradients to host", CopyKind::kDeviceToHost,
        part(group, parts_.memory.groups[group].bytes), Phase::kBackward, std::move(ready));
    give_back(group, out);
    on_host_.push_back(group);
    if (choice_.updates == UpdatePolicy::kBatch && on_host_.size() < parts_.memory.groups.size())
        return;
    for (const std::size_t there : std::exchange(on_host_, {}))
        update_on_host(there, out);
}

/// Updates a rank's part, copies it back and gathers all parts.
void MemoryWriter::update_on_host(std::size_t group, Index there) {
    const std::uint64_t weights = weights_of(group);
    const double parameters = static_cast<double>(part(group, weights).count()) /
                              static_cast<double>(parts_.memory.facts.options.element);
    constexpr double kPicoseconds = 1e12;
    // All ranks of a host have their parts of a bucket at the same time, and share its cores.
    const double rate = choice_.host_rate / choice_.ranks_a_host;
    const Time takes(static_cast<std::uint64_t>(parameters / rate * kPicoseconds));
    const Index updated = writer_.host_work("update on host", takes, Phase::kOptimizer, {there});
    const Index back = writer_.host_copy(
        "weights from host", CopyKind::kHostToDevice, part(group, weights), Phase::kOptimizer,
        {updated});
    gather_weights(group, back);
}

std::uint64_t MemoryWriter::weights_of(std::size_t group) const {
    std::uint64_t weights = 0;
    for (const std::uint32_t owner : parts_.memory.groups[group].owners)
        weights += parts_.memory.facts.layers[owner].weights;
    return weights;
}

void MemoryWriter::gather_weights(std::size_t group, Index ready) {
    (void)writer_.collective(
        "gather weights", CollectiveKind::kAllGather, Bytes(weights_of(group)),
        parts_.step.plan().datatype, team(group), Phase::kOptimizer, {ready});
}

/// One kernel that reads all gradients, for their norm or to detect overflows.
void MemoryWriter::look_at_all_gradients() {
    if (!choice_.clip_by_global_norm && !choice_.check_loss_scale)
        return;
    for (const Index ready : std::exchange(all_ready_, {}))
        writer_.wait_for(0, ready);
    MemoryKernel kernel;
    kernel.kernel_class = KernelClass::kReduction;
    kernel.read = static_cast<double>(sum_of_bytes(parts_.memory.groups)) /
                  parts_.memory.facts.options.moment_shards;
    writer_.kernel(
        0, choice_.clip_by_global_norm ? "norm of gradients" : "overflows of gradients",
        Phase::kOptimizer, parts_.step.times().estimate(kernel).kernel);
}

void MemoryWriter::update(const LayerUse& step, const Indices& data) {
    const std::vector<GradientGroup>& groups = parts_.memory.groups;
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const GradientGroup& group) {
        return std::find(group.owners.begin(), group.owners.end(), step.layer) !=
               group.owners.end();
    });
    SWITCHFOLD_CHECK(found != groups.end(), "weights of layer {} have no gradient", step.layer);
    const auto group = static_cast<std::size_t>(found - groups.begin());
    const ParallelPlan& plan = parts_.step.plan();
    const bool batch = choice_.updates == UpdatePolicy::kBatch;
    const KernelOperation kernel =
        parts_.step.times()
            .estimate(optimizer(
                static_cast<double>(parts_.memory.facts.held.layers[step.layer].parameters) /
                    parts_.memory.facts.options.shards_of(step.layer),
                element_bytes(plan.datatype), element_bytes(plan.gradient),
                optimizer_state_bytes(plan)))
            .kernel;
    if (batch && !all_ready_.empty())
        look_at_all_gradients();
    Indices waits = batch ? std::exchange(all_ready_, {}) : ready_[group];
    append(waits, data);
    if (batch || choice_.updates == UpdatePolicy::kImmediate) {
        for (const Index wait : waits)
            writer_.wait_for(0, wait);
        writer_.kernel(0, "update", Phase::kOptimizer, kernel);
        last_update_ = writer_.last_kernel(0);
    } else {
        last_update_ =
            writer_.kernel_beside("updates", "update", Phase::kOptimizer, kernel, std::move(waits));
    }
    ended_ = {*last_update_};
    if (--left_[group] > 0)
        return;
    give_back(group, *last_update_);
    if (sharded() && plan.sharding != Sharding::kParameters)
        gather_weights(group, *last_update_);
}

/// Spans of the passes, from their first to their last operation; updates within the backward pass
/// form no span.
void MemoryWriter::spans() {
    for (const auto& [pass, range] : passes_) {
        const auto [micro_batch, kind] = pass;
        if (kind == UseKind::kUpdate && choice_.updates != UpdatePolicy::kBatch)
            continue;
        writer_.span(
            to_string(Pass{pass_of(kind), micro_batch, 0}), range.first, range.last, 0,
            phase_of(kind));
    }
}

}  // namespace switchfold
