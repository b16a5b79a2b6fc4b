// SPDX-License-Identifier: Apache-2.0
#include "validation/averaging/exchange_rows.h"

#include "sim/config/load.h"
#include "sim/machine/simulate.h"
#include "sim/results/summary.h"
#include "workloads/graph/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <regex>
#include <string_view>

namespace switchfold::validation {

namespace {

/// For results that follow from the one link rate.
constexpr double kMostError = 0.15;

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}
bool says(const std::string& text, std::string_view word) {
    return text.find(word) != std::string::npos;
}

/// What exchanges parameters, in a row's words; or the reason why it is not modelled.
struct Asked {
    std::optional<CollectivePolicy> policy;
    std::string why;
};
Asked asked_of(const AveragingRow& row) {
    const std::string how = lower(row.algorithm);
    if (says(how, "dist") || says(how, "process"))
        return {{}, "goes through processes of parameter servers, which are not simulated"};
    if (says(lower(row.model + " " + row.algorithm + " " + row.note), "sgd"))
        return {{}, "updates weights between, by calls that are not simulated"};
    CollectivePolicy policy;
    if (says(how, "tree"))
        policy.algorithm = Algorithm::kTopologyTree;
    else if (says(how, "ring"))
        policy.algorithm = Algorithm::kRing;
    else if (says(how, "owner") || says(how, "device") || says(how, "peer"))
        policy.algorithm = Algorithm::kOwners;
    else if (says(how, "host") || says(how, "local") || says(how, "cpu"))
        policy.algorithm = Algorithm::kHost;
    else
        return {{}, "says of no exchange that is known here how it goes"};
    if (!moves_by_copies(policy.algorithm))
        return {policy, {}};
    std::smatch arrays;
    const std::string text = row.model + " " + row.note;
    if (std::regex_search(text, arrays, std::regex("([0-9]+) arrays"))) {
        // Arrays have equal sizes here, a multiple of four bytes.
        const auto count = static_cast<std::uint64_t>(std::stoul(arrays[1]));
        policy.copies.array = Bytes((row.bytes / std::max<std::uint64_t>(count, 1) + 4) / 4 * 4);
    }
    // MXNet: MXNET_CPU_PRIORITY_NTHREADS, by default four.
    policy.copies.host_threads = 4;
    return {policy, {}};
}

}  // namespace

bool is_of_exchange(const AveragingRow& row) {
    return row.quantity == "exchange_time";
}

void compare_exchange(
    const std::vector<AveragingRow>& rows, const SuiteOptions& options, SuiteResult& result) {
    const SystemParams box =
        load_system(options.root / "configs/systems/pcie3_two_groups.json", {});
    const std::uint32_t gpus = build_topology(box.topology).gpus();
    std::optional<double> worst;
    for (const AveragingRow& row : rows) {
        const std::string hardware = lower(row.hardware);
        Asked asked = asked_of(row);
        if (!says(hardware, "two groups of 4") || !says(hardware, "pcie 3"))
            asked = {{}, "was measured on a machine that configs/systems does not have"};
        else if (row.bytes == 0 || row.bytes % 4 != 0 || row.workers < 2 || row.workers > gpus)
            asked = {
                {}, fmt::format("is not an exchange of 32-bit numbers among 2 to {} GPUs", gpus)};
        if (!asked.policy) {
            result.unmatched.push_back({row.id, asked.why});
            continue;
        }
        const ExecutionGraph graph = single_collective(
            CollectiveKind::kAllReduce, Bytes(row.bytes), Datatype::kFloat32, row.workers);
        const Outcome outcome = simulate(box, graph, CollectivePolicies(*asked.policy));
        constexpr double kMilli = 1e-3;
        Case c;
        c.id = row.id;
        c.group = "exchange over PCIe";
        c.quantity = row.quantity;
        c.unit = row.unit;
        c.measured = row.value;
        c.simulated = collective_results(graph, outcome).front().time_us * kMilli;
        c.fitted = row.id == "mxnet_device_2";
        c.how = fmt::format(
            "{} GPUs, {}{}", row.workers, enum_name(asked.policy->algorithm),
            c.fitted ? "; the links' rate comes from it" : "");
        if (!c.fitted)
            worst = std::max(worst.value_or(0), std::abs(c.error()));
        result.cases.push_back(std::move(c));
    }
    if (worst)
        result.verdicts.push_back(
            {"the worst exchange over PCIe that the links' rate was not taken from", *worst,
             kMostError});
}

}  // namespace switchfold::validation
