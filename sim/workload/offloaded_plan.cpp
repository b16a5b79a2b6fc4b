// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/offloaded_plan.h"

#include "sim/workload/memory_settings.h"
#include "training/memory/offload/mebibytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

std::string told_memory(const StepMemory& planned) {
    const OffloadPlan& plan = planned.plan;
    const std::string gradients = fmt::format(
        "{} are set aside for gradients of weights; {} of memory would suffice",
        in_mebibytes(planned.gradients), in_mebibytes(plan.floor_bytes()));
    if (plan.moved_bytes() == 0)
        return fmt::format(
            "all {} that may be offloaded stay on the GPU; {}", in_mebibytes(plan.candidate_bytes),
            gradients);
    return fmt::format(
        "of {} that may be offloaded {} stay on the GPU; {} are copied in and {} out through {}; "
        "{}",
        in_mebibytes(plan.candidate_bytes), in_mebibytes(plan.retained_bytes),
        in_mebibytes(plan.bytes_in), in_mebibytes(plan.bytes_out),
        in_mebibytes(planned.ring_bytes()), gradients);
}

std::string told_again(const Network& network, const MemoryFacts& facts) {
    if (facts.options.again.empty())
        return "exact recomputation repeats no layer";
    std::uint32_t layers = 0;
    double seconds = 0;
    for (const LayerRange& range : facts.options.again)
        for (std::uint32_t layer = range.first; layer < range.end; ++layer) {
            ++layers;
            seconds += facts.times[layer].forward;
        }
    return fmt::format(
        "exact recomputation repeats {} of {} layers in {} segments, {:.3f} ms a micro-batch",
        layers, network.layers.size(), facts.options.again.size(), seconds * 1e3);
}

/// With exact recomputation, plans between those that are tried may fit more.
std::string largest_words(const ParallelPlan& plan, std::uint32_t largest) {
    if (largest == 0)
        return "not even one sample fits";
    return fmt::format(
        "{}micro_batch {} fits", plan.recompute == Recompute::kExact ? "" : "at most ", largest);
}

/// The choice on a GPU, and what that refuses.
MemoryChoice choice_on(
    const GpuParams& gpu, const PlanParams& params, std::uint32_t ranks_a_host,
    PlanProblems& found) {
    MemoryChoice choice = *params.memory;
    if (choice.bytes.count() == 0)
        choice.bytes = gpu.memory.for_plans();
    choice.rates = {
        static_cast<double>(gpu.copy.host_bandwidth.count()),
        static_cast<double>(gpu.copy.rate_to_host().count())};
    choice.ranks_a_host = ranks_a_host;
    if (choice.bytes.count() == 0)
        found.emplace_back(
            "/bytes", fmt::format("is none, and {} states no capacity; expected it", gpu.name));
    if (const Bytes capacity = gpu.memory.capacity; capacity.count() > 0 && choice.bytes > capacity)
        found.emplace_back(
            "/bytes",
            fmt::format(
                "is {}, and {} has {}; expected no more", in_mebibytes(choice.bytes.count()),
                gpu.name, in_mebibytes(capacity.count())));
    return choice;
}

/// The same where GPUs have parts of their own, or samples, or differ.
void use_memory_of_devices(
    const RankGpus& gpus, std::uint32_t ranks_a_host, const PlanParams& params,
    PreparedPlan& prepared, PlanProblems& found) {
    auto planned = std::make_shared<PlannedDevices>();
    const bool within = MemoryChoice(*params.memory).updates != UpdatePolicy::kBatch;
    // By their first ranks: which one is told must not depend on where it lies in memory.
    std::vector<std::pair<const TrainingStep*, std::uint32_t>> first_rank;
    if (prepared.divided) {
        const auto& by_rank = prepared.divided->by_rank;
        std::set<const TrainingStep*> seen;
        for (std::uint32_t rank = 0; rank < by_rank.size(); ++rank)
            if (by_rank[rank] != nullptr && seen.insert(by_rank[rank]).second)
                first_rank.emplace_back(by_rank[rank], rank);
    } else {
        first_rank.emplace_back(prepared.step.get(), 0);
    }
    for (const auto& [step, rank] : first_rank) {
        const MemoryChoice choice = choice_on(gpus.of(rank), params, ranks_a_host, found);
        if (!found.empty())
            return;
        std::string why;
        if (within) {
            const StepMemory& own =
                prepared.memories.emplace(step, planned_memory(*step, choice, found)).first->second;
            if (!found.empty())
                return;
            why = own.plan.refusal;
        } else {
            why = planned->add(*step, choice);
        }
        if (!why.empty()) {
            const std::uint32_t largest =
                within ? largest_micro_batch(*step, prepared.memories.at(step))
                       : largest_micro_batch(*step, choice);
            found.emplace_back(
                "/bytes", fmt::format(
                              "is {}: {}; {}", in_mebibytes(choice.bytes.count()), why,
                              largest_words(step->plan(), largest)));
            return;
        }
    }
    if (!within)
        prepared.devices = std::move(planned);
    prepared.notes.push_back(
        fmt::format("on the GPU that copies most, {}", told_memory(*prepared.planned())));
}

}  // namespace

void use_memory(
    const RankGpus& gpus, const GpuParams& gpu, const PlanParams& params, PreparedPlan& prepared,
    PlanProblems& problems) {
    const std::uint32_t ranks_a_host = std::max(1U, std::min(prepared.ranks, gpus.of_a_machine()));
    PlanProblems found;
    const MemoryChoice choice = choice_on(gpu, params, ranks_a_host, found);
    const std::string unlike = !prepared.divided ? ""
                               : params.global_batch > 0
                                   ? "divides a batch; expected no global_batch"
                                   : "has several kinds of GPUs; expected one";
    PlanProblems of_plan = problems_of(choice, prepared.step->plan(), unlike);
    found.insert(found.begin(), of_plan.begin(), of_plan.end());
    const bool in_parts =
        has_parts(prepared.step->plan()) && choice.updates == UpdatePolicy::kBatch;
    if (found.empty() && (prepared.divided || in_parts)) {
        use_memory_of_devices(gpus, ranks_a_host, params, prepared, found);
    } else if (found.empty()) {
        prepared.memory = planned_memory(*prepared.step, choice, found);
        const OffloadPlan& plan = prepared.memory->plan;
        if (found.empty() && !plan.refusal.empty()) {
            const std::uint32_t largest = largest_micro_batch(*prepared.step, *prepared.memory);
            found.emplace_back(
                "/bytes", fmt::format(
                              "is {}: {}; {}", in_mebibytes(choice.bytes.count()), plan.refusal,
                              largest_words(prepared.step->plan(), largest)));
        } else if (found.empty()) {
            if (prepared.step->plan().recompute == Recompute::kExact)
                prepared.notes.push_back(
                    told_again(prepared.step->network(), prepared.memory->facts));
            prepared.notes.push_back(told_memory(*prepared.memory));
        }
    }
    for (auto& [pointer, what] : found)
        problems.emplace_back("/memory" + pointer, std::move(what));
}

}  // namespace switchfold
