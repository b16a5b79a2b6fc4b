// SPDX-License-Identifier: Apache-2.0
#include "workloads/changes/host_costs.h"

#include <algorithm>

namespace switchfold::changes {

Time write_time(const HostCosts& costs, Bytes state) {
    return serialization_time(state, std::min(costs.storage_write, costs.client));
}

Time read_time(const HostCosts& costs, Bytes state, std::uint32_t ranks, std::uint32_t machines) {
    const std::uint64_t readers = costs.readers == Readers::kEveryRank      ? ranks
                                  : costs.readers == Readers::kEveryMachine ? machines
                                                                            : 1;
    return std::max(
        serialization_time(state * readers, costs.storage_read),
        serialization_time(state, costs.client));
}

Time context_time(const HostCosts& costs, std::uint32_t gpus_of_machine) {
    return costs.context + costs.context_per_gpu * (std::max(1U, gpus_of_machine) - 1);
}

Time init_time(const HostCosts& costs, Communicator communicator, std::uint32_t ranks) {
    if (ranks < 2)
        return {};
    // A ring of N - 1 steps, the slowest rank's coming before it. Split and Shrink skip it, and
    // what there is already.
    const Time bootstrap = costs.skew + costs.bootstrap_per_rank * (ranks - 1);
    switch (communicator) {
    case Communicator::kFirst:
        return costs.kernels + costs.allocation + bootstrap + costs.topology;
    case Communicator::kFresh:
        return costs.allocation + bootstrap + costs.topology;
    case Communicator::kAborted:
        return costs.allocation + costs.bootstrap_per_rank * (ranks - 1) + costs.topology;
    case Communicator::kShrink:
        break;
    }
    return costs.topology;
}

Time connection_time(const HostCosts& costs, Communicator communicator, std::uint32_t machines) {
    if (communicator == Communicator::kShrink)
        return {};
    return machines > 1 ? costs.connections_network : costs.connections;
}

}  // namespace switchfold::changes
