// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/host_costs.h"

#include <algorithm>
#include <cstddef>
#include <map>

namespace switchfold::elastic {

namespace {

/// The part of `bytes` that one of `count` ranks has.
Bytes part_of(Bytes bytes, std::uint64_t rank, std::uint64_t count) {
    return bytes * (rank + 1) / count - bytes * rank / count;
}

/// Bytes that the ranks of a machine read together: their parts of what members hold, each part
/// once, and those of what all divide.
Bytes read_by_machine(const HeldState& state, std::uint32_t here, std::uint32_t ranks) {
    return state.each * std::min(here, state.gpus) / state.gpus + state.divided * here / ranks;
}

}  // namespace

std::vector<Bytes> parts_written(Writers writers, const HeldState& state, std::uint32_t ranks) {
    std::vector<Bytes> parts(ranks);
    const std::uint32_t writing = writers == Writers::kOne ? state.gpus : ranks;
    for (std::uint32_t i = 0; i < ranks; ++i) {
        if (i < writing)
            parts[i] = part_of(state.each, i, writing);
        parts[i] += part_of(state.divided, i, ranks);
    }
    return parts;
}

Time write_time(const HostCosts& costs, const HeldState& state, std::uint32_t ranks) {
    std::vector<StorageClient> clients;
    for (const Bytes part : parts_written(costs.writers, state, ranks))
        clients.push_back({Time(), part});
    return last_of(serve({costs.storage_write, costs.client}, clients));
}

std::vector<Time> read_ends(
    const HostCosts& costs, const HeldState& state, const Placement& placement,
    const std::vector<Time>& arrivals) {
    const auto ranks = static_cast<std::uint32_t>(arrivals.size());
    std::map<std::uint32_t, std::uint32_t> ranks_of_machine;
    for (const std::uint32_t machine : placement.machine_of)
        ++ranks_of_machine[machine];
    // Of a single member that reads for all, each rank reads its part.
    const std::uint32_t readers =
        costs.readers == Readers::kOne ? std::min(ranks, state.gpus) : ranks;
    std::vector<StorageClient> clients;
    std::vector<std::size_t> client_of(ranks);
    std::map<std::uint32_t, std::size_t> client_of_machine;
    for (std::uint32_t rank = 0; rank < readers; ++rank) {
        const std::uint32_t machine = placement.machine_of[rank];
        const bool by_machine = costs.readers == Readers::kEveryMachine;
        const auto [at, first] = client_of_machine.emplace(machine, clients.size());
        if (first || !by_machine) {
            client_of[rank] = clients.size();
            clients.push_back(
                {arrivals[rank], by_machine
                                     ? read_by_machine(state, ranks_of_machine[machine], ranks)
                                     : state.each / state.gpus + state.divided / readers});
        } else {
            client_of[rank] = at->second;
            // The first member of a machine to arrive reads for the machine.
            Time& begins = clients[at->second].arrives;
            begins = std::min(begins, arrivals[rank]);
        }
    }
    const std::vector<Time> ends = serve({costs.storage_read, costs.client}, clients);
    std::vector<Time> have = arrivals;
    for (std::uint32_t rank = 0; rank < readers; ++rank)
        have[rank] = std::max(have[rank], ends[client_of[rank]]);
    return have;
}

Time context_time(const HostCosts& costs, std::uint32_t gpus_of_machine) {
    return costs.context + costs.context_per_gpu * (std::max(1U, gpus_of_machine) - 1);
}

Time look_time(const HostCosts& costs, std::uint32_t groups) {
    return costs.poll * groups / (groups + 1);  // the largest of so many uniform waits
}

Time init_time(const HostCosts& costs, Communicator communicator, std::uint32_t ranks) {
    if (ranks < 2)
        return {};
    switch (communicator) {
    case Communicator::kFirst:
        return costs.kernels + costs.allocation + costs.topology;
    case Communicator::kFresh:
    case Communicator::kAborted:
        return costs.allocation + costs.topology;
    case Communicator::kShrink:
        break;
    }
    return costs.topology;  // Split and Shrink reuse what exists
}

std::vector<Time> bootstrap_ends(
    const HostCosts& costs, Communicator communicator, const std::vector<Time>& arrivals) {
    if (communicator == Communicator::kShrink || arrivals.size() < 2)
        return arrivals;
    std::vector<Time> came = arrivals;
    if (communicator != Communicator::kAborted)
        for (std::size_t rank = 0; rank < came.size(); ++rank)
            came[rank] += costs.skew * rank / (came.size() - 1);
    return ring_all_gather(came, costs.bootstrap_step);
}

std::vector<Time> connection_ends(
    const HostCosts& costs, Communicator communicator, const Placement& placement,
    const std::vector<Time>& arrivals) {
    if (communicator == Communicator::kShrink)
        return arrivals;
    return connect_rings(placement, arrivals, {costs.connection, costs.connection_network});
}

Time last_of(const std::vector<Time>& times) {
    return times.empty() ? Time() : *std::max_element(times.begin(), times.end());
}

}  // namespace switchfold::elastic
