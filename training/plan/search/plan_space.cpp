// SPDX-License-Identifier: Apache-2.0
#include "training/plan/search/plan_space.h"

#include "training/plan/step/plan_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace switchfold {

namespace {

std::vector<std::uint32_t> divisors(std::uint32_t number) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t d = 1; d <= number; ++d)
        if (number % d == 0)
            found.push_back(d);
    return found;
}

std::vector<std::uint32_t>
given_or_divisors(const std::vector<std::uint32_t>& given, std::uint32_t number) {
    return given.empty() ? divisors(number) : given;
}

std::vector<bool> values_of(Tried tried, bool matters, bool otherwise) {
    if (!matters)
        return {otherwise};
    if (tried == Tried::kEither)
        return {true, false};
    return {tried == Tried::kYes};
}

/// Removes duplicates, keeps the order.
template <class T>
std::vector<T> once(std::vector<T> values) {
    std::vector<T> out;
    for (T& value : values)
        if (std::find(out.begin(), out.end(), value) == out.end())
            out.push_back(std::move(value));
    return out;
}

class Enumeration {
public:
    Enumeration(const PlanSpace& space, const ParallelPlan& base, const Network& network) :
        space_(space), base_(base), network_(network) {}

    EnumeratedPlans run() {
        for (const std::uint32_t tensor : once(given_or_divisors(space_.tensor, space_.gpus)))
            for (const std::uint32_t context : once(given_or_divisors(space_.context, space_.gpus)))
                for (const std::uint32_t pipeline :
                     once(given_or_divisors(space_.pipeline, space_.gpus)))
                    devices(tensor, context, pipeline);
        return std::move(found_);
    }

private:
    void refuse(const std::string& why, std::string example) {
        EnumeratedPlans::Refused& refused = found_.refused[why];
        if (refused.plans++ == 0)
            refused.example = std::move(example);
    }

    void devices(std::uint32_t tensor, std::uint32_t context, std::uint32_t pipeline) {
        ParallelPlan plan = base_;
        plan.tensor = tensor;
        plan.context = context;
        plan.pipeline = pipeline;
        const std::uint64_t model = std::uint64_t{tensor} * context * pipeline;
        if (space_.gpus % model != 0) {
            // A rejection counts only if the user listed the values; divisors tried by default are
            // skipped.
            if (!space_.tensor.empty() && !space_.pipeline.empty()) {
                ++found_.combinations;
                refuse(
                    "the number of GPUs",
                    fmt::format(
                        "tensor {} x context {} x pipeline {} does not divide {} GPUs", tensor,
                        context, pipeline, space_.gpus));
            }
            return;
        }
        plan.data = static_cast<std::uint32_t>(space_.gpus / model);
        if (!space_.data.empty() &&
            std::find(space_.data.begin(), space_.data.end(), plan.data) == space_.data.end()) {
            ++found_.combinations;
            refuse(
                "data",
                fmt::format(
                    "tensor {} x context {} x pipeline {} leaves data {} on {} GPUs, which is not "
                    "among the replicas to be tried",
                    tensor, context, pipeline, plan.data, space_.gpus));
            return;
        }
        micro_batches(plan);
    }

    void micro_batches(ParallelPlan plan) {
        if (space_.global_batch % plan.data != 0) {
            ++found_.combinations;
            refuse(
                "the batch",
                fmt::format(
                    "{} replicas do not divide {} samples", plan.data, space_.global_batch));
            return;
        }
        const std::uint32_t samples = space_.global_batch / plan.data;
        for (const std::uint32_t micro_batch :
             once(given_or_divisors(space_.micro_batch, samples))) {
            if (samples % micro_batch != 0) {
                ++found_.combinations;
                refuse(
                    "the batch",
                    fmt::format(
                        "micro-batches of {} do not divide the {} samples of one of {} replicas",
                        micro_batch, samples, plan.data));
                continue;
            }
            plan.micro_batch = micro_batch;
            plan.accumulate = samples / micro_batch;
            memory(plan);
        }
    }

    /// Varies the options that trade memory for time.
    void memory(ParallelPlan plan) {
        const bool replicas = plan.data * plan.context > 1;
        std::vector<Recompute> recompute = space_.recompute;
        if (plan.attention != AttentionKernels::kUnfused)
            std::replace(
                recompute.begin(), recompute.end(), Recompute::kSelective, Recompute::kNone);
        const std::vector<Sharding> sharding =
            replicas ? once(space_.sharding) : std::vector<Sharding>{Sharding::kNone};
        for (const Recompute again : once(std::move(recompute)))
            for (const Sharding shards : sharding)
                for (const bool sequence : values_of(space_.sequence, plan.tensor > 1, false))
                    for (const bool overlaps :
                         values_of(space_.overlap_gradients, replicas, true)) {
                        plan.recompute = again;
                        plan.sharding = shards;
                        plan.sequence = sequence;
                        plan.overlap_gradients = overlaps;
                        schedules(plan);
                    }
    }

    void schedules(ParallelPlan plan) {
        if (plan.pipeline == 1) {
            plan.schedule = "1f1b";
            plan.chunks = 1;
            add(plan);
            return;
        }
        for (const std::string& schedule : once(space_.schedule)) {
            plan.schedule = schedule;
            const std::vector<std::uint32_t> chunks = schedule == "interleaved_1f1b"
                                                          ? once(space_.chunks)
                                                          : std::vector<std::uint32_t>{1};
            for (const std::uint32_t each : chunks) {
                plan.chunks = each;
                add(plan);
            }
        }
    }

    void add(const ParallelPlan& plan) {
        ++found_.combinations;
        const PlanProblems problems = problems_of(plan, network_);
        if (problems.empty()) {
            found_.plans.push_back(plan);
            return;
        }
        const auto& [pointer, what] = problems.front();
        refuse(pointer.substr(1), fmt::format("{}: {} {}", name_of(plan), pointer.substr(1), what));
    }

    const PlanSpace& space_;
    const ParallelPlan& base_;
    const Network& network_;
    EnumeratedPlans found_;
};

}  // namespace

EnumeratedPlans
enumerate_plans(const PlanSpace& space, const ParallelPlan& base, const Network& network) {
    return Enumeration(space, base, network).run();
}

std::string name_of(const ParallelPlan& plan) {
    std::string name;
    const auto add = [&](const std::string& what) { name += (name.empty() ? "" : ", ") + what; };
    const auto ranks = [&](const char* what, std::uint32_t count) {
        if (count > 1)
            add(fmt::format("{} {}", what, count));
    };
    ranks("data", plan.data);
    ranks("tensor", plan.tensor);
    if (plan.sequence)
        add("sequence");
    ranks("context", plan.context);
    ranks("pipeline", plan.pipeline);
    if (plan.pipeline > 1)
        add(plan.schedule == "interleaved_1f1b" ? fmt::format("{} x {}", plan.schedule, plan.chunks)
                                                : plan.schedule);
    add(fmt::format("micro-batch {} x {}", plan.micro_batch, plan.accumulate));
    if (plan.sharding != Sharding::kNone)
        add(plan.sharding == Sharding::kOptimizer   ? "optimizer sharded"
            : plan.sharding == Sharding::kGradients ? "gradients sharded"
                                                    : "parameters sharded");
    if (plan.recompute != Recompute::kNone)
        add(plan.recompute == Recompute::kFull    ? "full recompute"
            : plan.recompute == Recompute::kExact ? "exact recompute"
                                                  : "selective recompute");
    if (plan.data * plan.context > 1 && !plan.overlap_gradients)
        add("gradients at the end");
    return name;
}

}  // namespace switchfold
