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
    kind_(parts.kind_of(rank)),
    writer_(parts.map, rank, parts.cut.plan().launch_times, groups, names),
    ends_(parts.cut.tasks().all().size()),
    received_(ends_.size()),
    last_(parts.cut.graph().parts),
    summed_(parts.cut.graph().nodes.size(), 0),
    teams_(gradient_teams(parts.map, rank)),
    unit_of_(summed_.size(), SIZE_MAX) {
    for (std::size_t unit = 0; unit < parts.repeated.size(); ++unit)
        for (const std::uint32_t layer : parts.repeated[unit].layers)
            unit_of_[layer] = unit;
}

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

std::uint32_t PlacementWriter::gpu_of(std::uint32_t layer) const {
    return parts_.cut.graph().gpu_of(parts_.cut.found().parts[layer]);
}

bool PlacementWriter::is_here(std::uint32_t task) const {
    return gpu_of(parts_.cut.tasks().all()[task].node) == place_.device;
}

PlacementWriter::Pending& PlacementWriter::pending(std::uint32_t layer) {
    return pending_[parts_.cut.work().layers().shared_by_experts(layer) ? 1 : 0];
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
    Written written;
    written.waits = ends_of(task.needs);
    append(written.waits, received_[index]);
    append(written.waits, gather(task, part));
    const Phase phase = phase_of(task.kind);
    repeat(task, part, written);
    layer_work(part, task.kind, task.node, task.chunk, phase, written);
    const std::optional<Index> first = written.first;
    std::vector<Index> waits = std::move(written.waits);
    if (written.last_kernel)
        waits.push_back(*written.last_kernel);
    if (first) {
        const Index last = *std::max_element(waits.begin(), waits.end());
        writer_.span(name_of(task, parts_.cut.graph().nodes[task.node]), *first, last, 0, phase);
        last_[part] = waits;
    }
    ends_[index] = std::move(waits);
    const std::int64_t kept = std::llround(parts_.kept[task.node]);
    if (task.kind == TaskKind::kForward && task.chunk == 0 && first)
        writer_.memory(MemoryClass::kActivations, kept, *first, false);
    if (task.kind == TaskKind::kWeightGradient) {
        const Index end = *std::max_element(ends_[index].begin(), ends_[index].end());
        writer_.memory(MemoryClass::kActivations, -kept, end, true);
        free_repeated(task, end);
        append(pending(task.node).made, ends_[index]);
        gradients_ready(task.node);
    }
}

void PlacementWriter::layer_work(
    std::uint32_t part, TaskKind kind, std::uint32_t node, std::uint32_t chunk, Phase phase,
    Written& task) {
    std::vector<Index> beside;
    for (const WorkItem& item : parts_.cut.work(kind_).work(kind, node, chunk)) {
        if (const auto* kernel = std::get_if<KernelItem>(&item)) {
            task.last_kernel = writer_.kernel_beside(
                stream_of(part), kernel->name, phase, kernel->kernel,
                std::exchange(task.waits, {}));
            task.first = task.first.value_or(*task.last_kernel);
        } else if (const auto* collective = std::get_if<CollectiveItem>(&item)) {
            std::vector<Index> behind = task.waits;
            if (task.last_kernel)
                behind.push_back(*task.last_kernel);
            const auto done = writer_.collective_beside(*collective, phase, std::move(behind));
            if (!done)
                continue;
            task.first = task.first.value_or(*done);
            if (collective->beside)
                beside.push_back(*done);
            else
                task.waits = {*done};
        } else if (std::holds_alternative<JoinItem>(item)) {
            append(task.waits, std::exchange(beside, {}));
        }
    }
    append(task.waits, beside);
}

void PlacementWriter::repeat(const PlacementTask& task, std::uint32_t part, Written& written) {
    const std::size_t unit = unit_of_[task.node];
    if (task.kind != TaskKind::kInputGradient || unit == SIZE_MAX)
        return;
    const RepeatedLayers& repeated = parts_.repeated[unit];
    if (!repeated_.try_emplace({unit, task.micro_batch}, repeated.layers.size()).second)
        return;
    for (const std::uint32_t layer : repeated.layers)
        for (std::uint32_t chunk = 0; chunk < parts_.cut.graph().nodes[layer].chunks; ++chunk)
            layer_work(part, TaskKind::kForward, layer, chunk, phase_of(task.kind), written);
    if (written.first)
        writer_.memory(
            MemoryClass::kWorkspace, std::llround(repeated.workspace), *written.first, false);
}

void PlacementWriter::free_repeated(const PlacementTask& task, Index end) {
    const auto left = repeated_.find({unit_of_[task.node], task.micro_batch});
    if (left != repeated_.end() && --left->second == 0)
        writer_.memory(
            MemoryClass::kWorkspace, -std::llround(parts_.repeated[left->first.first].workspace),
            end, true);
}

std::vector<PlacementWriter::Index>
PlacementWriter::gather(const PlacementTask& task, std::uint32_t part) {
    const ParallelPlan& plan = parts_.cut.plan();
    if (plan.sharding != Sharding::kParameters || task.kind == TaskKind::kWeightGradient)
        return {};
    const std::vector<Layer>& layers = parts_.cut.network().layers;
    const auto unit_of = [&](std::uint32_t layer) {
        const auto alone = static_cast<std::uint32_t>(layers.size()) + layer;
        return layers[layer].block == kNoBlock ? alone : layers[layer].block;
    };
    const Gathered pass{unit_of(task.node), task.micro_batch, task.kind == TaskKind::kForward};
    const auto [at, fresh] = gathered_.try_emplace(pass);
    if (fresh) {
        const std::vector<Index> after = std::exchange(before_gather_, last_[part]);
        for (const bool experts : {false, true}) {
            double bytes = 0;
            for (std::uint32_t layer = 0; layer < layers.size(); ++layer)
                if (unit_of(layer) == unit_of(task.node) && gpu_of(layer) == place_.device &&
                    parts_.cut.work().layers().shared_by_experts(layer) == experts)
                    bytes += parts_.cut.work().layers().gathered_bytes(layer);
            if (const auto index = writer_.collective(
                    "gather weights", CollectiveKind::kAllGather, bytes_of(bytes), plan.datatype,
                    team(experts), phase_of(task.kind), after))
                at->second.push_back(*index);
        }
    }
    return at->second;
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
    const bool experts = parts_.cut.work().layers().shared_by_experts(layer);
    // Who keeps a part of gradients alone adds up no whole ones.
    if (++summed_[layer] < plan.accumulate && plan.sharding < Sharding::kGradients)
        return;
    Pending& own = pending(layer);
    const double bytes =
        parts_.cut.work().layers().parameters(layer) * element_bytes(plan.gradient);
    own.bytes += bytes_of(bytes);
    if (plan.overlap_gradients && own.bytes >= (own.any_bucket ? plan.bucket : plan.first_bucket))
        flush(experts);
}

void PlacementWriter::flush(bool experts) {
    Pending& own = pending_[experts ? 1 : 0];
    own.any_bucket = true;
    const ParallelPlan& plan = parts_.cut.plan();
    const bool whole = plan.sharding == Sharding::kNone;
    const auto index = writer_.collective(
        whole ? "reduce gradients" : "scatter gradients",
        whole ? CollectiveKind::kAllReduce : CollectiveKind::kReduceScatter,
        std::exchange(own.bytes, Bytes(0)), plan.gradient, team(experts), Phase::kBackward,
        std::exchange(own.made, {}));
    if (index)
        reduced_.push_back(*index);
}

double PlacementWriter::parameters(bool experts) const {
    const LayerWork& layers = parts_.cut.work().layers();
    double sum = 0;
    for (std::uint32_t i = 0; i < parts_.cut.graph().nodes.size(); ++i)
        if (gpu_of(i) == place_.device && layers.shared_by_experts(i) == experts)
            sum += layers.parameters(i);
    return sum;
}

void PlacementWriter::update() {
    const PlacedStep& cut = parts_.cut;
    const ParallelPlan& plan = cut.plan();
    for (const bool experts : {false, true})
        flush(experts);
    std::vector<Index> waits = reduced_;
    for (const std::vector<Index>& ends : last_)
        append(waits, ends);
    // All ranks of a model replica agree on the norm of the gradients.
    if (const auto norm = writer_.collective(
            "norm of gradients", CollectiveKind::kAllReduce, Bytes(16), Datatype::kFloat32,
            {"norm of gradients", parts_.map.sharing(Sharing::kModel, rank_)}, Phase::kOptimizer,
            waits))
        waits = {*norm};
    double updated = 0;
    for (const bool experts : {false, true})
        updated += parameters(experts) / (plan.sharding == Sharding::kNone
                                              ? 1
                                              : static_cast<double>(team(experts).ranks.size()));
    if (updated == 0)
        return;
    const Index first = writer_.kernel_beside(
        "compute", "update", Phase::kOptimizer,
        cut.times(kind_)
            .estimate(optimizer(
                updated, element_bytes(plan.datatype), kSingleBytes, optimizer_state_bytes(plan)))
            .kernel,
        std::move(waits));
    writer_.span("U0", first, first, 0, Phase::kOptimizer);
    if (plan.sharding != Sharding::kOptimizer && plan.sharding != Sharding::kGradients)
        return;
    for (const bool experts : {false, true})
        (void)writer_.collective(
            "gather weights", CollectiveKind::kAllGather,
            bytes_of(parameters(experts) * element_bytes(plan.datatype)), plan.datatype,
            team(experts), Phase::kOptimizer, {first});
}

}  // namespace switchfold
