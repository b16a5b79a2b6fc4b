// SPDX-License-Identifier: Apache-2.0
#include "training/placement/placement_writer.h"

#include "workloads/graph/execution_graph.h"
#include "workloads/kernels/memory_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace switchfold {

namespace {

/// "F0@lstm.0", "B2@lstm.1 3/10": in the notation of passes.
std::string name_of(const PlacementTask& task, const PlacementNode& node) {
    const char* kind = task.kind == TaskKind::kForward         ? "F"
                       : task.kind == TaskKind::kInputGradient ? "B"
                                                               : "W";
    std::string name = fmt::format("{}{}@{}", kind, task.micro_batch, node.name);
    if (node.chunks > 1 && task.kind != TaskKind::kWeightGradient)
        name += fmt::format(" {}/{}", task.chunk + 1, node.chunks);
    return name;
}

Phase phase_of(TaskKind kind) {
    return kind == TaskKind::kForward ? Phase::kForward : Phase::kBackward;
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

PlacementWriter::PlacementWriter(
    const PlacementStepParts& parts, std::uint32_t rank, Communicators& groups, NameTable& names) :
    parts_(parts),
    rank_(rank),
    place_(parts.map.place(rank)),
    writer_(parts.map, rank, parts.cut.plan().launch_times, groups, names),
    ends_(parts.cut.tasks().all().size()),
    received_(ends_.size()),
    last_(parts.cut.graph().parts),
    summed_(parts.cut.graph().nodes.size(), 0) {}

RankGraph PlacementWriter::write() {
    auto next = parts_.messages.begin();
    const std::vector<std::uint32_t>& order = parts_.cut.schedule().order;
    for (std::uint32_t at = 0; at < order.size(); ++at) {
        if (is_here(order[at]))
            task(order[at]);
        for (; next != parts_.messages.end() && next->behind == at; ++next)
            message(*next);
    }
    update();
    return writer_.take();
}

bool PlacementWriter::is_here(std::uint32_t task) const {
    const PlacementGraph& graph = parts_.cut.graph();
    const std::uint32_t node = parts_.cut.tasks().all()[task].node;
    return graph.gpu_of(parts_.cut.found().parts[node]) == place_.device;
}

std::string PlacementWriter::stream_of(std::uint32_t part) const {
    const PlacementGraph& graph = parts_.cut.graph();
    const std::uint32_t number = part % (graph.parts / graph.gpus);
    return number == 0 ? "compute" : fmt::format("compute {}", number + 1);
}

std::uint32_t PlacementWriter::peer(std::uint32_t gpu) const {
    RankPlace place = place_;
    place.device = gpu;
    return parts_.map.rank(place);
}

std::vector<PlacementWriter::Index>
PlacementWriter::ends_of(const std::vector<std::uint32_t>& tasks) const {
    std::vector<Index> all;
    for (const std::uint32_t task : tasks)
        if (is_here(task))
            append(all, ends_[task]);
    return all;
}

void PlacementWriter::task(std::uint32_t index) {
    const PlacementTask& task = parts_.cut.tasks().all()[index];
    const std::uint32_t part = parts_.cut.found().parts[task.node];
    std::vector<Index> waits = ends_of(task.needs);
    append(waits, received_[index]);
    std::optional<Index> first;
    const Phase phase = phase_of(task.kind);
    for (const WorkItem& item : parts_.cut.work().work(task.kind, task.node, task.chunk))
        if (const auto* kernel = std::get_if<KernelItem>(&item)) {
            const Index done = writer_.kernel_beside(
                stream_of(part), kernel->name, phase, kernel->kernel, std::exchange(waits, {}));
            first = first.value_or(done);
        }
    if (first) {
        const Index last = writer_.latest();
        waits = {last};
        writer_.span(name_of(task, parts_.cut.graph().nodes[task.node]), *first, last, 0, phase);
    }
    if (first)
        last_[part] = waits;
    ends_[index] = std::move(waits);
    const std::int64_t kept = std::llround(parts_.kept[task.node]);
    if (task.kind == TaskKind::kForward && task.chunk == 0 && first)
        writer_.memory(MemoryClass::kActivations, kept, *first, false);
    if (task.kind == TaskKind::kWeightGradient) {
        writer_.memory(
            MemoryClass::kActivations, -kept,
            *std::max_element(ends_[index].begin(), ends_[index].end()), true);
        append(made_, ends_[index]);
        gradients_ready(task.node);
    }
}

void PlacementWriter::message(const PlacementMessage& message) {
    const bool sends = message.from == place_.device;
    if (!sends && message.to != place_.device)
        return;
    const std::string& layer = parts_.cut.graph().nodes[message.node].name;
    const char* what = message.forward ? "" : "gradient of ";
    const Phase phase = message.forward ? Phase::kForward : Phase::kBackward;
    if (sends) {
        writer_.message(
            fmt::format("send {} {}", message.forward ? "to" : "back to", message.to),
            fmt::format("send {}{}", what, layer), true, peer(message.to), message.bytes,
            message.tag, phase, ends_of(message.makers));
        return;
    }
    const Index done = writer_.message(
        fmt::format("receive {} {}", message.forward ? "from" : "back from", message.from),
        fmt::format("receive {}{}", what, layer), false, peer(message.from), message.bytes,
        message.tag, phase, message.after ? ends_[*message.after] : std::vector<Index>());
    for (const std::uint32_t taker : message.takers)
        received_[taker].push_back(done);
}

void PlacementWriter::gradients_ready(std::uint32_t layer) {
    const ParallelPlan& plan = parts_.cut.plan();
    if (++summed_[layer] < plan.accumulate)
        return;
    const double bytes =
        parts_.cut.work().layers().parameters(layer) * element_bytes(plan.gradient);
    pending_ += Bytes(static_cast<std::uint64_t>(std::ceil(bytes)));
    if (plan.overlap_gradients && pending_ >= (any_bucket_ ? plan.bucket : plan.first_bucket))
        flush();
}

void PlacementWriter::flush() {
    any_bucket_ = true;
    const ParallelPlan& plan = parts_.cut.plan();
    const auto index = writer_.collective(
        "reduce gradients", CollectiveKind::kAllReduce, std::exchange(pending_, Bytes(0)),
        plan.gradient, {"gradients", parts_.map.replicas(rank_)}, Phase::kBackward,
        std::exchange(made_, {}));
    if (index)
        reduced_.push_back(*index);
}

void PlacementWriter::update() {
    const PlannedPlacement& cut = parts_.cut;
    flush();
    std::vector<Index> waits = reduced_;
    for (const std::vector<Index>& ends : last_)
        append(waits, ends);
    // All ranks of a model replica agree on the norm of the gradients.
    if (const auto norm = writer_.collective(
            "norm of gradients", CollectiveKind::kAllReduce, Bytes(16), Datatype::kFloat32,
            {"norm of gradients", parts_.map.sharing(Sharing::kModel, rank_)}, Phase::kOptimizer,
            waits))
        waits = {*norm};
    double parameters = 0;
    for (std::uint32_t i = 0; i < cut.graph().nodes.size(); ++i)
        if (cut.graph().gpu_of(cut.found().parts[i]) == place_.device)
            parameters += cut.work().layers().parameters(i);
    if (parameters == 0)
        return;
    const Index updated = writer_.kernel_beside(
        "compute", "update", Phase::kOptimizer,
        cut.times()
            .estimate(optimizer(
                parameters, element_bytes(cut.plan().datatype), kSingleBytes,
                optimizer_state_bytes(cut.plan())))
            .kernel,
        std::move(waits));
    writer_.span("U0", updated, updated, 0, Phase::kOptimizer);
}

}  // namespace switchfold
