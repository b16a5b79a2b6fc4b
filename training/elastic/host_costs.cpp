// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/host_costs.h"

#include <algorithm>
#include <cstddef>
#include <map>

namespace switchfold::elastic {

std::vector<Bytes> parts_written(Writers writers, Bytes state, std::uint32_t members) {
    std::vector<Bytes> parts(members);
    if (writers == Writers::kOne) {
        parts.front() = state;
        return parts;
    }
    for (std::uint64_t i = 0; i < members; ++i)
        parts[i] = state * (i + 1) / members - state * i / members;
    return parts;
}

Time write_time(const HostCosts& costs, Bytes state, std::uint32_t members) {
    std::vector<StorageClient> clients;
    for (const Bytes part : parts_written(costs.writers, state, members))
        clients.push_back({Time(), part});
    return last_of(serve({costs.storage_write, costs.client}, clients));
}

std::vector<Time> read_ends(
    const HostCosts& costs, Bytes state, const Placement& placement,
    const std::vector<Time>& arrivals) {
    std::vector<StorageClient> clients;
    std::vector<std::size_t> client_of(arrivals.size());
    std::map<std::uint32_t, std::size_t> client_of_machine;
    for (std::size_t rank = 0; rank < arrivals.size(); ++rank) {
        if (costs.readers == Readers::kOne && rank > 0)
            break;
        const auto [at, first] =
            client_of_machine.emplace(placement.machine_of[rank], clients.size());
        if (first || costs.readers == Readers::kEveryRank) {
            client_of[rank] = clients.size();
            clients.push_back({arrivals[rank], state});
        } else {
            client_of[rank] = at->second;
            // The first member of a machine to arrive reads for the machine.
            Time& begins = clients[at->second].arrives;
            begins = std::min(begins, arrivals[rank]);
        }
    }
    const std::vector<Time> ends = serve({costs.storage_read, costs.client}, clients);
    std::vector<Time> have = arrivals;
    for (std::size_t rank = 0; rank < have.size(); ++rank)
        if (costs.readers != Readers::kOne || rank == 0)
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
