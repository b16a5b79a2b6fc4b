// SPDX-License-Identifier: Apache-2.0
#include "training/placement/placement_work.h"

#include "training/network/product.h"
#include "training/placement/placement_memory.h"
#include "training/plan/step/recomputed_layers.h"
#include "workloads/graph/execution_graph.h"
#include "workloads/kernels/matrix_product.h"
#include "workloads/kernels/memory_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace switchfold {

namespace {

double seconds_of(const Work& work) {
    double sum = 0;
    for (const WorkItem& item : work)
        if (const auto* kernel = std::get_if<KernelItem>(&item))
            sum += to_seconds(kernel->kernel.isolated);
    return sum;
}

constexpr std::array kKinds{
    TaskKind::kForward, TaskKind::kInputGradient, TaskKind::kWeightGradient};

}  // namespace

PlacementWork::PlacementWork(
    const Network& network, const KernelTimes& times, const ParallelPlan& plan,
    const PlacementChoice& choice) :
    network_(network),
    times_(times),
    plan_(plan),
    lstm_weights_(choice.lstm_weights),
    chunks_(network, choice.chunk_steps),
    piece_network_(chunks_.of_steps(network, chunks_.steps(0))),
    last_network_(chunks_.of_steps(network, chunks_.steps(chunks_.count() - 1))),
    whole_(network, times, plan),
    piece_(piece_network_, times, plan),
    last_(last_network_, times, plan),
    work_(network.layers.size()) {
    for (std::uint32_t i = 0; i < work_.size(); ++i)
        for (const TaskKind kind : kKinds) {
            const auto k = static_cast<std::size_t>(kind);
            work_[i].piece[k] = made(piece_, i, kind, chunks_.steps(0));
            if (chunks_.chunks(i) > 1)
                work_[i].last[k] = made(last_, i, kind, chunks_.steps(chunks_.count() - 1));
        }
}

Work PlacementWork::made(
    const LayerWork& layers, std::uint32_t layer, TaskKind kind, std::uint64_t steps) const {
    Work work;
    if (kind == TaskKind::kWeightGradient)
        whole_.weight_gradient(layer, work);
    else if (is_lstm_of_steps(network_, layer))
        lstm_steps(layer, kind, steps, work);
    else if (kind == TaskKind::kForward)
        layers.forward(layer, work);
    else
        layers.input_gradient(layer, work);
    return work;
}

void PlacementWork::lstm_steps(
    std::uint32_t layer, TaskKind kind, std::uint64_t steps, Work& work) const {
    const Layer& l = network_.layers[layer];
    const bool forward = kind == TaskKind::kForward;
    const MatrixShape shape = *product_of(l);
    MatrixProduct product{
        shape.rows * plan_.micro_batch, shape.columns, shape.depth, 1, plan_.datatype, plan_.tf32};
    if (!forward) {
        std::swap(product.n, product.k);
        constexpr std::uint64_t kGates = 4;
        if (l.inputs
                .empty())  // only the gradient of the state is needed, not of the network's input
            product.n = shape.columns / kGates;
    }
    const KernelOperation first = times_.estimate(product).kernel;
    if (lstm_weights_ == LstmWeights::kL2)
        product.since_right = 0;  // the previous time step read them
    const KernelOperation next = times_.estimate(product).kernel;
    const std::string name = fmt::format("{} {}", l.name, forward ? "forward" : "input gradient");
    for (std::uint64_t step = 0; step < steps; ++step)
        work.push_back(KernelItem{name, step == 0 ? first : next});
}

const Work& PlacementWork::work(TaskKind kind, std::uint32_t layer, std::uint32_t chunk) const {
    const OfLayer& of_layer = work_[layer];
    const auto k = static_cast<std::size_t>(kind);
    const std::uint32_t pieces = chunks_.chunks(layer);
    const bool last = kind != TaskKind::kWeightGradient && pieces > 1 && chunk + 1 == pieces;
    return last ? of_layer.last[k] : of_layer.piece[k];
}

double PlacementWork::seconds(TaskKind kind, std::uint32_t layer) const {
    const std::uint32_t pieces = kind == TaskKind::kWeightGradient ? 1 : chunks_.chunks(layer);
    return (pieces - 1) * seconds_of(work(kind, layer, 0)) +
           seconds_of(work(kind, layer, pieces - 1));
}

PlacementGraph placement_graph(
    const Network& network, const PlacementWork& work, const KernelTimes& times,
    const ParallelPlan& plan, const PlacementChoice& choice, double link_bandwidth, double memory) {
    PlacementGraph graph;
    graph.parts = choice.parts;
    graph.gpus = choice.gpus_used();
    graph.micro_batches = plan.accumulate;
    graph.replicas = plan.data;
    graph.bandwidth = link_bandwidth;
    graph.latency = to_seconds(choice.message_latency);
    graph.memory = memory;
    graph.last_chunk = static_cast<double>(work.chunks().steps(work.chunks().count() - 1)) /
                       std::max(1.0, static_cast<double>(work.chunks().steps(0)));
    std::vector<bool> again(network.layers.size(), false);
    for (const LayerRange& range :
         recomputed_layers(network, plan, 0, static_cast<std::uint32_t>(network.layers.size())))
        std::fill(again.begin() + range.first, again.begin() + range.end, true);
    for (std::uint32_t i = 0; i < network.layers.size(); ++i) {
        PlacementNode node;
        node.name = network.layers[i].name;
        node.forward = work.seconds(TaskKind::kForward, i);
        node.input_gradient =
            work.seconds(TaskKind::kInputGradient, i) + (again[i] ? node.forward : 0);
        node.weight_gradient = work.seconds(TaskKind::kWeightGradient, i);
        const double parameters = work.layers().parameters(i);
        if (parameters > 0) {
            // One kernel updates all weights of a GPU: its launch belongs to no layer.
            const auto seconds = [&](double count) {
                return times
                    .estimate(optimizer(
                        count, element_bytes(plan.datatype), kSingleBytes,
                        optimizer_state_bytes(plan)))
                    .seconds();
            };
            node.update = seconds(parameters) - seconds(0);
        }
        node.output_bytes = work.layers().output_bytes(i);
        node.gradient_bytes = parameters * element_bytes(plan.gradient);
        node.memory = state_of(work.layers(), plan, i).all();
        if (!again[i])
            node.memory += plan.accumulate * kept_where_made(network, work.layers(), plan, i);
        node.chunks = work.chunks().chunks(i);
        node.inputs = network.layers[i].inputs;
        graph.nodes.push_back(std::move(node));
    }
    return graph;
}

}  // namespace switchfold
