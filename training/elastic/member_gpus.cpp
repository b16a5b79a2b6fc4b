// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/member_gpus.h"

#include "core/error.h"
#include "training/plan/step/parallel_plan.h"

#include <algorithm>

namespace switchfold::elastic {

MemberGpus::MemberGpus(const ParallelPlan& plan, std::uint32_t gpus) :
    machine_(gpus),
    tensor_(plan.tensor),
    inner_(plan.tensor * plan.context),
    replicas_(plan.expert),
    pipeline_(plan.pipeline),
    first_(plan.data / plan.expert) {
    SWITCHFOLD_CHECK(plan.data % plan.expert == 0, "replicas divide experts evenly");
}

std::uint32_t MemberGpus::room() const {
    return machine_ / each();
}

std::uint32_t MemberGpus::member_of(std::uint32_t gpu) const {
    const std::uint32_t in_stage = inner_ * replicas_;
    return gpu < first_ * each() ? gpu % (first_ * in_stage) / in_stage : gpu / each();
}

std::vector<std::uint32_t> MemberGpus::of(std::uint32_t member) const {
    const std::uint32_t in_stage = inner_ * replicas_;
    std::vector<std::uint32_t> gpus;
    for (std::uint32_t place = 0; place < each(); ++place)
        gpus.push_back(
            member < first_ ? in_stage * (member + first_ * device_of(place)) + place % in_stage
                            : member * each() + place);
    return gpus;
}

Members MemberGpus::all(const Members& members) const {
    Members gpus;
    for (const std::uint32_t member : members) {
        const std::vector<std::uint32_t> own = of(member);
        gpus.insert(gpus.end(), own.begin(), own.end());
    }
    std::sort(gpus.begin(), gpus.end());
    return gpus;
}

Members MemberGpus::at(const Members& members, std::uint32_t place) const {
    Members gpus;
    for (const std::uint32_t member : members)
        gpus.push_back(of(member)[place]);
    return gpus;
}

std::vector<std::uint32_t> MemberGpus::by_rank(const Members& members) const {
    const std::uint32_t in_stage = inner_ * replicas_;
    std::vector<std::uint32_t> gpus(members.size() * each());
    for (std::size_t i = 0; i < members.size(); ++i) {
        const std::vector<std::uint32_t> own = of(members[i]);
        for (std::uint32_t place = 0; place < each(); ++place)
            gpus[in_stage * (i + members.size() * device_of(place)) + place % in_stage] =
                own[place];
    }
    return gpus;
}

std::vector<Members> MemberGpus::dividing(const Members& members) const {
    const std::uint32_t contexts = inner_ / tensor_;
    std::vector<Members> parts(each() / contexts);
    for (const std::uint32_t member : members) {
        const std::vector<std::uint32_t> own = of(member);
        for (std::uint32_t place = 0; place < each(); ++place)
            parts[place % tensor_ + tensor_ * (place / inner_)].push_back(own[place]);
    }
    return parts;
}

}  // namespace switchfold::elastic
