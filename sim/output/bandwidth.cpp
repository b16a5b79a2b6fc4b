// SPDX-License-Identifier: Apache-2.0
#include "sim/output/component_result.h"

namespace switchfold {

namespace {

/// Bus over algorithm bandwidth, as nccl-tests (doc/PERFORMANCE.md) defines it for each kind.
double bus_factor(const CollectiveResult& collective) {
    if (collective.ranks < 2)
        return 1;
    const double n = collective.ranks;
    if (collective.kind == "all_reduce")
        return 2 * (n - 1) / n;
    if (collective.kind == "all_gather" || collective.kind == "reduce_scatter" ||
        collective.kind == "all_to_all")
        return (n - 1) / n;
    return 1;
}

}  // namespace

double algorithm_bandwidth_gbps(const CollectiveResult& collective) {
    if (collective.time.count() == 0)
        return 0;
    // Bytes per picosecond are TB/s.
    return static_cast<double>(collective.size.count()) /
           static_cast<double>(collective.time.count()) * 1000;
}

double bus_bandwidth_gbps(const CollectiveResult& collective) {
    return algorithm_bandwidth_gbps(collective) * bus_factor(collective);
}

}  // namespace switchfold
