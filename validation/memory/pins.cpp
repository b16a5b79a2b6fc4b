// SPDX-License-Identifier: Apache-2.0
#include "training/memory/access/parameter_chain.h"
#include "training/memory/offload/first_fit.h"
#include "training/memory/offload/optimal.h"
#include "training/network/table.h"
#include "validation/harness/data.h"
#include "validation/memory/memory_row.h"

#include <fmt/format.h>

#include <numeric>

namespace switchfold::validation {

namespace {

constexpr std::uint64_t kMiB = 1U << 20U;

double in_mib(std::uint64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(kMiB);
}

/// Pinned bytes for a policy in the table's words; empty for other policies.
std::optional<std::uint64_t>
retained(const TensorUses& schedule, const std::string& policy, std::uint64_t capacity) {
    const bool greedy = policy.starts_with("first_fit");
    const bool window = policy == "optimal window";
    if (!greedy && !window && policy != "optimal double_peak")
        return {};
    const OffloadProblem problem =
        offload_problem(schedule, window ? Staging::kWindow : Staging::kDoublePeak);
    if (!greedy)
        return retained_bytes(problem, retain_optimally(problem, capacity, {kMiB}).retained);
    std::vector<std::uint32_t> order = access_order(schedule, problem);
    if (policy.find("first use") == std::string::npos)
        std::iota(order.begin(), order.end(), 0U);  // a0 .., then h1 ..
    const auto chosen = first_fit(problem, capacity, order);
    return chosen ? retained_bytes(problem, *chosen) : 0;
}

}  // namespace

MemoryAnswer pinned_bytes(const MemoryRow& row, const SuiteOptions& options) {
    const auto table = find_data(options, fmt::format("models/{}.csv", row.network));
    const auto input = input_elements(row);
    if (!table || !input)
        return {
            {},
            table ? "the size of its input is not known"
                  : fmt::format("no table models/{}.csv", row.network)};
    ChainOptions chain;
    chain.batch = row.batch;
    chain.input_elements = *input;
    chain.granule = kMiB;
    const TensorUses schedule = parameter_chain(read_network_table(*table), chain);
    const OffloadProblem twice = offload_problem(schedule, Staging::kDoublePeak);
    const bool greedy = row.policy.starts_with("first_fit");
    std::optional<std::uint64_t> found;
    if (row.quantity == "candidate_bytes")
        found = candidate_bytes(schedule);
    else if (row.quantity == "least_capacity")
        found = greedy ? staging_bytes(twice, std::vector<bool>(twice.size()))
                       : least_capacity(twice).bytes;
    else if (row.quantity == "pinned_bytes" && row.capacity_mib)
        found = retained(schedule, row.policy, *row.capacity_mib * kMiB);
    if (!found)
        return {{}, fmt::format("{} of {} is not compared here", row.quantity, row.policy)};
    MemoryAnswer answer{in_mib(*found), "", greedy ? "pins, GeePS's rule" : "pins, exact"};
    // A derived row that its own rule contradicts is shown and not judged.
    if (const Json* const refuted = row.values.find("/refuted"))
        answer.how = refuted->get<std::string>();
    else
        answer.verdict = greedy ? MemoryVerdict::kGreedyPins : MemoryVerdict::kExactPins;
    return answer;
}

}  // namespace switchfold::validation
