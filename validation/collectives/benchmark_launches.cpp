// SPDX-License-Identifier: Apache-2.0
#include "validation/collectives/benchmark_launches.h"

#include <algorithm>
#include <string>
#include <utility>

namespace switchfold::validation {

namespace {

// No host has more GPUs. A rack that is one domain of links has more, and several hosts.
constexpr std::uint32_t kMostOfAHost = 16;
// Hosts launch at different speed: a table contradicts one thread for all GPUs only if it is
// quicker than this share of that thread's launches.
constexpr double kQuickHost = 0.5;

/// Launches by a GPU's proxy in a loop of exchanges: a connection to and one from each peer on
/// another machine.
Time of_proxies(const MeasuredRow& row, const MatchedMachine& machine) {
    if (row.collective != CollectiveKind::kAllToAll || machine.nodes < 2)
        return {};
    const std::uint32_t peers = row.gpus - row.gpus / machine.nodes;
    return machine.system.collectives->proxy_launch * (2 * peers);
}

}  // namespace

BenchmarkLaunches::BenchmarkLaunches(const std::vector<MeasuredRow>& rows) {
    for (const MeasuredRow& row : rows)
        if (const auto time = measured_time(row)) {
            const auto [at, fresh] =
                quickest_.try_emplace(std::pair(row.table, row.gpus), time->us);
            at->second = std::min(at->second, time->us);
        }
}

std::uint32_t
BenchmarkLaunches::driven(const MeasuredRow& row, const MatchedMachine& machine) const {
    if (row.driven)
        return *row.driven;
    const bool python = row.placement.find(".py") != std::string::npos;
    const bool hosts =
        std::max(machine.nodes, row.nodes.value_or(1)) > 1 || row.gpus > kMostOfAHost;
    if (hosts || python || !row.collective_name.empty())
        return 1;
    const auto quickest = quickest_.find(std::pair(row.table, row.gpus));
    const double bound = to_microseconds(machine.system.collectives->host_launch * row.gpus);
    return quickest != quickest_.end() && quickest->second < kQuickHost * bound ? 1 : row.gpus;
}

Time BenchmarkLaunches::of(const MeasuredRow& row, const MatchedMachine& machine) const {
    const Time hosts = machine.system.collectives->host_launch * driven(row, machine);
    return std::max(hosts, of_proxies(row, machine));
}

}  // namespace switchfold::validation
