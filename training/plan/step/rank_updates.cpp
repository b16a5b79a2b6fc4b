// SPDX-License-Identifier: Apache-2.0
// The part of a rank's writer behind its gradients: buckets, what precedes updates, updates.
#include "training/plan/step/rank_writer.h"
#include "training/plan/step/rounding_kernels.h"
#include "training/plan/step/update_kernels.h"
#include "workloads/kernels/memory_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace switchfold {

void RankWriter::gather(std::size_t lane, const GatherItem& item, const Pass& pass, Phase phase) {
    using Parts = std::vector<PassWriter::Gathered>;
    writer_.gather(
        lane,
        item.left && follows_forward_
            ? Parts{}
            : Parts{{item.bytes, team({pass.stage})}, {item.experts, team({pass.stage, true})}},
        parts_.plan.datatype, phase);
    close_unit(pass.stage, phase);
}

/// Sends the gradients of the unit that has ended.
void RankWriter::close_unit(std::uint32_t stage, Phase phase) {
    if (const auto ends = std::exchange(closed_unit_, {}))
        for (const bool experts : {false, true})
            reduce({stage, experts}, *ends, phase);
}

void RankWriter::gradients_ready(std::size_t lane, std::uint32_t layer, bool reduces) {
    const Weights weights{
        parts_.work.stage_of(layer), parts_.work.layers().shared_by_experts(layer)};
    Pending& pending = pending_[weights];
    const Bytes bytes =
        bytes_of(parts_.work.layers().parameters(layer) * element_bytes(parts_.plan.gradient));
    const bool overlaps = parts_.plan.overlap_gradients;
    // Without overlap all micro-batches share one gradient.
    if (parts_.plan.sharding >= Sharding::kGradients && bytes.count() > 0 &&
        (overlaps || pending.layers.insert(layer).second))
        pending.whole.push_back({writer_.last_kernel(lane).value(), bytes});
    if (!reduces || !overlaps)
        return;
    if (parts_.plan.unit.count() > 0) {
        close_unit(weights.stage, Phase::kBackward);
        pending.bytes += bytes;
        if (parts_.work.closes_unit(layer))
            closed_unit_ = writer_.ends(lane);
        return;
    }
    pending.bytes += bytes;
    if (pending.bytes >= (pending.any ? parts_.plan.bucket : parts_.plan.first_bucket))
        flush(weights, lane, Phase::kBackward);
}

/// Gradients that are no views into their bucket are copied there.
void RankWriter::flush(Weights weights, std::size_t lane, Phase phase) {
    const Bytes bytes = pending_[weights].bytes;
    const bool copies = !parts_.plan.gradient_as_bucket_view &&
                        parts_.plan.sharding < Sharding::kGradients && bytes.count() > 0;
    if (copies && team(weights).ranks.size() > 1)
        writer_.kernel(
            lane, "gradients to bucket", phase,
            parts_.times.estimate(copy(static_cast<double>(bytes.count()))).kernel);
    reduce(weights, writer_.ends(lane), phase);
}

void RankWriter::reduce(Weights weights, std::vector<Index> dependencies, Phase phase) {
    Pending& pending = pending_[weights];
    const Bytes bytes = std::exchange(pending.bytes, Bytes(0));
    pending.any = true;
    const std::vector<Pending::Whole> made = std::exchange(pending.whole, {});
    pending.layers.clear();
    const bool whole = parts_.plan.sharding == Sharding::kNone;
    const auto index = writer_.collective(
        whole ? "reduce gradients" : "scatter gradients",
        whole ? CollectiveKind::kAllReduce : CollectiveKind::kReduceScatter, bytes,
        parts_.plan.gradient, team(weights), phase, std::move(dependencies));
    if (!index)
        return;
    pending.reduced.push_back(*index);
    for (const Pending::Whole& gradient : made) {
        const auto held = static_cast<std::int64_t>(gradient.bytes.count());
        writer_.memory(MemoryClass::kBuckets, held, gradient.operation, false);
        writer_.memory(MemoryClass::kBuckets, -held, *index, true);
    }
}

void RankWriter::reduce_before_update(
    const char* name, CollectiveKind kind, Bytes bytes, Datatype datatype, const Team& team) {
    const auto index =
        writer_.collective(name, kind, bytes, datatype, team, Phase::kOptimizer, writer_.ends(0));
    if (index)
        writer_.wait_for(0, *index);
}

/// Sums the gradients of weights that two stages use.
void RankWriter::reduce_tied(const std::vector<std::uint32_t>& stages) {
    const auto held = [&](std::uint32_t stage) {
        return std::find(stages.begin(), stages.end(), stage) != stages.end();
    };
    for (std::uint32_t user = 0; user < parts_.schedule.stages(); ++user) {
        const auto layer = parts_.work.shared_layer(user);
        if (!layer)
            continue;
        const std::uint32_t owner = parts_.work.stage_of(*layer);
        if (!held(owner) && !held(user))
            continue;
        const double bytes =
            parts_.work.layers().parameters(*layer) * element_bytes(parts_.plan.gradient);
        reduce_before_update(
            "tied gradients", CollectiveKind::kAllReduce, bytes_of(bytes), parts_.plan.gradient,
            {"tied gradients", holders({owner, user}, false)});
    }
}

/// Collectives that all stages of a device wait for before the first update; every rank issues them
/// in the same order.
void RankWriter::before_updates(std::size_t at) {
    const std::vector<Slot>& order = parts_.schedule.order[device_];
    const ParallelPlan& plan = parts_.plan;
    std::vector<std::uint32_t> stages;
    for (; at < order.size() && order[at].pass.kind == PassKind::kUpdate; ++at)
        stages.push_back(order[at].pass.stage);
    for (const std::uint32_t stage : stages) {
        for (const bool experts : {false, true}) {
            const Weights weights{stage, experts};
            Pending& pending = pending_[weights];
            if (!plan.overlap_gradients) {
                pending.bytes = bytes_of(parameters(weights) * element_bytes(plan.gradient));
                flush(weights, 0, Phase::kBackward);
            }
            for (const Index reduced : std::exchange(pending.reduced, {}))
                writer_.wait_for(0, reduced);
            pending.any = false;
        }
    }
    if (parts_.schedule.asynchronous)
        return;  // each stage keeps a copy of its own
    reduce_tied(stages);
    if (parts_.schedule.no_barrier)
        return;
    reduce_before_update(
        "norm of gradients", CollectiveKind::kAllReduce, Bytes(16), Datatype::kFloat32,
        {"norm of gradients", parts_.map.sharing(Sharing::kModel, rank_)});
}

double RankWriter::updated(double parameters, Weights weights) {
    return parts_.plan.sharding == Sharding::kNone
               ? parameters
               : parameters / static_cast<double>(team(weights).ranks.size());
}

void RankWriter::update_kernels_of(double parameters) {
    for (const UpdateKernel& update : update_kernels(parts_.plan, parameters))
        writer_.kernel(
            0, update.name, Phase::kOptimizer, parts_.times.estimate(update.kernel).kernel);
}

/// Layer by layer, so that what an update needs may travel beside the one before.
void RankWriter::update_layers(const Pass& pass) {
    const LayerWork& layers = parts_.work.layers();
    for (const std::uint32_t layer : updated_layers(
             parts_.step.network(), parts_.work.first(pass.stage), parts_.work.end(pass.stage))) {
        memory_->before(writer_, 0, layer, Phase::kOptimizer);
        update_kernels_of(
            updated(layers.parameters(layer), {pass.stage, layers.shared_by_experts(layer)}));
        memory_->after(writer_, 0, Phase::kOptimizer);
    }
}

void RankWriter::update(const Pass& pass) {
    const ParallelPlan& plan = parts_.plan;
    const std::array<Weights, 2> kinds{Weights{pass.stage, false}, Weights{pass.stage, true}};
    double held = 0;
    for (const Weights& weights : kinds)
        held += updated(parameters(weights), weights);
    const double element = element_bytes(plan.datatype);
    const auto rounded = [&](const Weights& weights) {
        return parts_.work.rounded_parameters(weights.stage, weights.experts);
    };
    const Index first = writer_.next();
    if (memory_ != nullptr)
        update_layers(pass);
    else
        update_kernels_of(held);
    const bool keeps_versions = plan.weights == WeightPolicy::kStash ||
                                plan.weights == WeightPolicy::kVerticalSync ||
                                plan.weights == WeightPolicy::kDoubleBuffered;
    if (parts_.schedule.asynchronous && keeps_versions)
        writer_.kernel(
            0, "keep version", Phase::kOptimizer,
            parts_.times
                .estimate(copy(
                    element * (plan.sharding == Sharding::kParameters
                                   ? held
                                   : parts_.work.parameters(pass.stage))))
                .kernel);
    writer_.span(
        to_string(pass), first, *writer_.last_kernel(0), round_of(pass), Phase::kOptimizer);
    if (plan.sharding == Sharding::kOptimizer || plan.sharding == Sharding::kGradients)
        for (const Weights& weights : kinds)
            reduce_before_update(
                "gather weights", CollectiveKind::kAllGather,
                bytes_of(gathered_bytes(plan, parameters(weights), rounded(weights))),
                plan.datatype, team(weights));
    if (plan.sharding != Sharding::kParameters && !plan.float8_weights)
        round_weights(rounded(kinds[0]) + rounded(kinds[1]));
}

/// Weights keep until the next update what they are rounded to.
void RankWriter::round_weights(double parameters) {
    const ParallelPlan& plan = parts_.plan;
    if (parameters == 0)
        return;
    for (const RoundingKernel& one : rounding_kernels(
             plan.products, parameters, element_bytes(plan.datatype), parts_.times.gpu().kernels))
        writer_.kernel(
            0, fmt::format("{}weights{}", one.before, one.behind), Phase::kOptimizer,
            parts_.times.estimate(one.kernel).kernel);
}

}  // namespace switchfold
