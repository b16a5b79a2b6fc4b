// SPDX-License-Identifier: Apache-2.0
// What a collective takes from its trace: parts that differ, its kernel's blocks, or its time.
#include "core/error.h"
#include "models/collectives/choice/exchange.h"
#include "models/collectives/engine.h"
#include "models/collectives/library.h"
#include "models/collectives/nccl/traced_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace switchfold {

namespace {

/// Why a group of these ranks cannot exchange such parts; empty if it can.
std::string why_no_exchange(const UnevenExchange& exchange, std::size_t ranks) {
    if (exchange.ranks != ranks || exchange.bytes.size() != ranks * ranks)
        return fmt::format("has {} ranks; expected its group's {}", exchange.ranks, ranks);
    const auto unknown =
        std::find(exchange.bytes.begin(), exchange.bytes.end(), UnevenExchange::kUnknown);
    if (unknown == exchange.bytes.end())
        return {};
    const auto pair = static_cast<std::size_t>(unknown - exchange.bytes.begin());
    return fmt::format(
        "does not say what the group's rank {} sends to its rank {}; expected every pair's bytes",
        pair / ranks, pair % ranks);
}

}  // namespace

const UnevenExchange& CollectiveEngine::exchange_of(const CollectiveOperation& collective) const {
    std::string why;
    if (collective.kind != CollectiveKind::kAllToAll)
        why = fmt::format("belongs to a {}; expected an all-to-all", to_string(collective.kind));
    else if (collective.exchange > exchanges_.size())
        why = fmt::format("is number {} of {}", collective.exchange, exchanges_.size());
    else
        why = why_no_exchange(
            exchanges_[collective.exchange - 1], groups_[collective.group].ranks.size());
    if (!why.empty())
        throw SimulationError(
            name(), clock_.now(),
            fmt::format(
                "the exchange of collective {} of group {} {}", collective.sequence,
                groups_[collective.group].name, why));
    return exchanges_[collective.exchange - 1];
}

Bytes CollectiveEngine::most_sent(const CollectiveOperation& collective) const {
    if (collective.exchange == 0)
        return collective.bytes;
    const UnevenExchange& exchange = exchange_of(collective);
    Bytes most;
    for (std::uint32_t rank = 0; rank < exchange.ranks; ++rank)
        most = std::max(most, exchange.sent_by(rank));
    return most;
}

void CollectiveEngine::specify_exchange(
    const CollectiveOperation& collective, CollectivePolicy policy, const CallGroup& group,
    CollectiveSpec& spec) {
    if (policy.channels == 0 && traced_with_rings(collective))
        policy.channels = collective.thread_blocks;
    if (collective.exchange == 0)
        spec.choice = library_for(spec.kind, policy)
                          .choose(params_, policy, {spec.kind, spec.bytes, spec.datatype}, group);
    else
        specify_parts(exchange_of(collective), policy, group.machine(), spec);
    take_traced_kernel(collective, spec);
}

void CollectiveEngine::specify_parts(
    const UnevenExchange& parts, const CollectivePolicy& policy, const MachineView& machine,
    CollectiveSpec& spec) const {
    spec.parts = &parts;
    UnevenChoice uneven = choose_uneven_exchange(params_, policy, machine, parts);
    spec.choice = uneven.choice;
    spec.messages = std::move(uneven.messages);
    const std::uint64_t largest = *std::max_element(parts.bytes.begin(), parts.bytes.end());
    const std::uint64_t whole =
        (largest + spec.element_bytes - 1) / spec.element_bytes * spec.element_bytes;
    spec.bytes = Bytes(whole * spec.size());
}

void CollectiveEngine::specify_as_traced(
    const CollectiveOperation& collective, CollectiveSpec& spec) const {
    const std::uint32_t usual = params_.simple.threads;
    spec.given = collective.given;
    spec.given_traffic = collective.given_traffic;
    spec.given_footprint = collective.given_footprint;
    spec.given_links = collective.given_links;
    spec.given_busy = collective.given_busy;
    spec.layout = one_domain(spec.size());
    // What is known to move its bytes without an SM, copy engines, has no block.
    const std::uint32_t fewest = collective.given_traffic.count() > 0 ? 0 : 1;
    spec.blocks = spec.choice.channels = std::max(fewest, collective.thread_blocks);
    spec.choice.threads = collective.threads_per_block != 0 ? collective.threads_per_block : usual;
    // Blocks of the machine's own kernel fit its SMs, so one of more threads has no more registers.
    spec.registers_per_thread =
        collective.registers_per_thread != 0
            ? std::min(params_.registers_per_thread, collective.registers_per_thread)
            : params_.registers_per_thread * usual / std::max(usual, spec.choice.threads);
    constexpr std::uint32_t kOfABlock = 65'536;  // on every GPU with CUDA since 2014
    spec.registers_per_thread =
        std::min(spec.registers_per_thread, kOfABlock / std::max(1U, spec.choice.threads));
    spec.shared_memory = params_.shared_memory;
    if (collective.shared_memory.count() != 0)
        spec.shared_memory = std::min(spec.shared_memory, collective.shared_memory);
}

void CollectiveEngine::take_traced_kernel(
    const CollectiveOperation& collective, CollectiveSpec& spec) {
    if (!library_of(spec.choice).shares_traced_kernel(spec.choice))
        return;
    if (!traced_with_rings(collective))
        return note_other_kernel(collective, spec.choice);
    if (policies_.of(spec.kind).channels != 0)
        return;
    if (collective.thread_blocks != 0)
        spec.blocks = spec.choice.channels =
            std::min(spec.choice.channels, collective.thread_blocks);
    // Blocks of the machine's own kernel fit its SMs.
    if (collective.registers_per_thread != 0)
        spec.registers_per_thread =
            std::min(params_.registers_per_thread, collective.registers_per_thread);
    if (collective.shared_memory.count() != 0)
        spec.shared_memory = std::min(params_.shared_memory, collective.shared_memory);
}

void CollectiveEngine::note_other_kernel(
    const CollectiveOperation& collective, const CollectiveConfig& choice) {
    const std::string_view runs =
        channels_for_a_peer(choice) != 0 ? "direct exchanges" : enum_name(choice.algorithm);
    const auto key = std::pair(std::string(collective.algorithm.text()), std::string(runs));
    const auto [found, fresh] = other_kernels_.try_emplace(key, OtherKernel{0, notes_.size()});
    if (fresh)
        notes_.emplace_back();
    const std::uint64_t count = ++found->second.count;
    notes_[found->second.note] = fmt::format(
        "the trace ran {} collective{} with another kernel ({}): here {} as {}, with thread blocks "
        "of {} own",
        count, count == 1 ? "" : "s", key.first, count == 1 ? "it runs" : "they run", key.second,
        count == 1 ? "its" : "their");
}

}  // namespace switchfold
