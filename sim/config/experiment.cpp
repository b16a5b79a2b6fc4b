// SPDX-License-Identifier: Apache-2.0
#include "sim/config/experiment.h"

#include "core/error.h"
#include "sim/config/scenario_set.h"
#include "sim/kinds/kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace switchfold {

CollectivePolicies ScenarioParams::policies() const {
    CollectivePolicies all = collectives;
    if (!all.all_reduce)
        all.all_reduce = all_reduce;
    // In a partition of the SMs, each block of a kernel takes one SM.
    const std::uint32_t most = communication_sms.value_or(UINT32_MAX);
    if (max_ctas || communication_sms)
        all.most_blocks = std::min(max_ctas.value_or(most), most);
    return nccl_environment.applied_to(std::move(all));
}

void ScenarioParams::check(ParamChecker& checker) const {
    check_policy(CollectiveKind::kAllReduce, all_reduce, checker);
    if (collectives.all_reduce && all_reduce != CollectivePolicy())
        checker.error(
            "/collectives/all_reduce",
            "is given, and all_reduce beside it; expected one of the two");
    for (const auto& [pointer, value] : set)
        if (const std::string why = why_not_set(pointer); !why.empty())
            checker.error("/set/" + escape_token(pointer), why);
}

namespace {

/// Kinds of workload for machines without GPUs.
std::vector<std::string_view> kinds_on_devices() {
    std::vector<std::string_view> names;
    for (const WorkloadKind* kind : workload_kinds())
        if (!kind->facts().on_gpus)
            names.push_back(kind->name());
    return names;
}

/// Rejects workloads on GPUs where there are none.
void miss_gpus(const Experiment& experiment, ParamChecker& checker) {
    const std::vector<WorkloadAt> workloads = workloads_of(experiment);
    const std::string others = fmt::format("{}", fmt::join(kinds_on_devices(), " or "));
    for (const WorkloadAt& at : workloads)
        checker.error(
            at.pointer + "/type",
            fmt::format(
                "is {}, which runs on GPUs, and {} has none; expected {}, or a system with GPUs",
                kind_of(at.workload).name(), experiment.system->name, others));
    if (workloads.empty())
        checker.error("/workload", fmt::format("is missing; expected one of type {}", others));
}

}  // namespace

void Experiment::check(ParamChecker& checker) const {
    const WorkloadKind& kind = kind_of(*this);
    if (kind.facts().on_gpus && !system->has_gpus())
        miss_gpus(*this, checker);
    else
        kind.check(*this, checker);
}

std::vector<WorkloadAt> workloads_of(const Experiment& experiment) {
    if (experiment.workload)
        return {{"/workload", *experiment.workload}};
    std::vector<WorkloadAt> all;
    for (std::size_t i = 0; i < experiment.workloads.size(); ++i)
        all.push_back({fmt::format("/workloads/{}/workload", i), experiment.workloads[i].workload});
    return all;
}

}  // namespace switchfold
