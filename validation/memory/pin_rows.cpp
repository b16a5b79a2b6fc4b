// SPDX-License-Identifier: Apache-2.0
#include "validation/memory/pin_rows.h"

#include "training/memory/access/parameter_chain.h"
#include "training/memory/offload/first_fit.h"
#include "training/memory/offload/optimal.h"
#include "training/network/table.h"

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

std::string PinRows::answer(const MemoryRow& row, Case& c) {
    const auto table = find_table_(row.network);
    const auto input = input_elements(row);
    if (!table || !input)
        return table ? "the size of its input is not known"
                     : "no table models/" + row.network + ".csv";
    ChainOptions options;
    options.batch = row.batch;
    options.input_elements = *input;
    options.granule = kMiB;
    const TensorUses schedule = parameter_chain(read_network_table(*table), options);
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
        return fmt::format("{} of {} is not compared here", row.quantity, row.policy);
    c.group = greedy ? "pins, GeePS's rule" : "pins, exact";
    c.simulated = in_mib(*found);
    // A derived row that its own rule contradicts is shown and not judged.
    if (const Json* const refuted = row.values.find("/refuted")) {
        c.how = refuted->get<std::string>();
        return {};
    }
    ++(greedy ? greedy_ : exact_);
    if (c.simulated != c.measured)
        ++(greedy ? greedy_wrong_ : exact_wrong_);
    return {};
}

void PinRows::verdicts(SuiteResult& result) const {
    const auto add = [&](const char* what, std::size_t many, std::size_t wrong) {
        if (many > 0)
            result.verdicts.push_back(
                {fmt::format("{} rows of {}: share of those that differ", many, what),
                 static_cast<double>(wrong) / static_cast<double>(many), 0});
    };
    add("pins by the exact programme", exact_, exact_wrong_);
    add("pins by GeePS's rule", greedy_, greedy_wrong_);
}

}  // namespace switchfold::validation
