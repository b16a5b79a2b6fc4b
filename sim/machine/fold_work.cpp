// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/fold_work.h"

#include "sim/machine/system_queries.h"

#include <set>
#include <tuple>
#include <variant>

namespace switchfold {

namespace {

constexpr std::size_t kFewestRanks = 32;
constexpr std::size_t kFewestOfLong = 8;
constexpr Bytes kLong = mebibytes(256);

/// A delay of a host thread that serves no other rank.
bool is_own_delay(const Operation& operation) {
    const auto* delay = std::get_if<HostDelayOperation>(&operation.body);
    return delay != nullptr && !delay->shared;
}

}  // namespace

std::optional<std::vector<CollectiveOperation>>
collectives_of(const RankGraph& rank, const std::function<bool(std::uint32_t group)>& admits) {
    std::vector<CollectiveOperation> found;
    std::set<std::tuple<CollectiveKind, Bytes, Datatype>> known;
    for (const Operation& operation : rank.operations) {
        if (const auto* collective = std::get_if<CollectiveOperation>(&operation.body)) {
            if (!admits(collective->group) || collective->exchange != 0 ||
                is_experts(collective->kind))
                return std::nullopt;
            if (known.emplace(collective->kind, collective->bytes, collective->datatype).second)
                found.push_back(*collective);
        } else if (
            // Copies share links to the host, and transfers have two ends that differ.
            !std::holds_alternative<KernelOperation>(operation.body) && !is_own_delay(operation)) {
            return std::nullopt;
        }
    }
    return found;
}

bool ranks_may_fold(const SystemParams& system, Fidelity fidelity) {
    return fidelity != Fidelity::kExact && system.faults.empty() && system.gpus.empty() &&
           !minds_congestion(*system.topology);
}

bool takes_long(std::size_t ranks, const RankGraph& rank) {
    if (ranks >= kFewestRanks)
        return true;
    if (ranks < kFewestOfLong)
        return false;
    Bytes bytes;
    for (const Operation& operation : rank.operations)
        if (const auto* collective = std::get_if<CollectiveOperation>(&operation.body))
            bytes += collective->bytes;
    return bytes >= kLong;
}

}  // namespace switchfold
