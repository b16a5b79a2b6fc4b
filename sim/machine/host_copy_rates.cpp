// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/host_copy_rates.h"

#include "sim/machine/simulate.h"

#include <algorithm>
#include <memory>

namespace switchfold {

namespace {

ExecutionGraph copies_of(const HostCopyLoad& load) {
    ExecutionGraph graph;
    graph.names = {"host copy"};
    auto rank = std::make_shared<RankGraph>();
    const auto copy = [&](CopyKind kind, Bytes bytes) {
        Operation operation;
        operation.stream = static_cast<std::uint32_t>(rank->streams.size());
        operation.body = CopyOperation{kind, bytes, Time()};
        rank->streams.push_back({StreamKind::kGpu, std::to_string(operation.stream), 0});
        if (bytes.count() > 0)
            rank->operations.push_back(operation);
    };
    copy(CopyKind::kHostToDevice, load.to_device);
    copy(CopyKind::kDeviceToHost, load.to_host);
    graph.ranks.assign(load.gpus, rank);
    graph.provenance.world_size = load.gpus;
    return graph;
}

double copy_rate(Bytes bytes, Time time) {
    return bytes.count() == 0 ? 0 : static_cast<double>(bytes.count()) / to_seconds(time);
}

}  // namespace

HostCopyRates host_copy_rates(const SystemParams& system, const HostCopyLoad& load) {
    const ExecutionGraph graph = copies_of(load);
    const Outcome outcome = simulate(system, graph, {});
    Time to_device;
    Time to_host;
    for (std::size_t rank = 0; rank < graph.ranks.size(); ++rank)
        for (std::size_t i = 0; i < outcome.times[rank].size(); ++i) {
            const auto& copy = std::get<CopyOperation>(graph.ranks[rank]->operations[i].body);
            Time& last = copy.kind == CopyKind::kHostToDevice ? to_device : to_host;
            last = std::max(last, outcome.times[rank][i].end);
        }
    return {
        copy_rate(load.to_device, to_device), copy_rate(load.to_host, to_host),
        copy_rate(load.to_device + load.to_host, std::max(to_device, to_host))};
}

}  // namespace switchfold
