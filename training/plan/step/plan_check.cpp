// SPDX-License-Identifier: Apache-2.0
#include "training/plan/schedule/generators.h"
#include "training/plan/schedule/pass_needs.h"
#include "training/plan/schedule/replay.h"
#include "training/plan/step/plan_step.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

namespace {

ScheduleShape shape_of(const ParallelPlan& plan, const ScheduleGenerator& generator) {
    ScheduleShape shape;
    shape.devices = plan.pipeline;
    shape.micro_batches = plan.accumulate;
    shape.chunks = generator.chunks == 0 ? plan.chunks : generator.chunks;
    shape.update_every = plan.update_every;
    shape.replicas = plan.replicas;
    if (generator.never_flushes)
        shape.micro_batches = plan.mini_batches;
    return shape;
}

class PlanCheck {
public:
    PlanCheck(const ParallelPlan& plan, const Network& network) : plan_(plan), network_(network) {}

    PlanProblems run() {
        tensor();
        context();
        experts();
        if (plan_.sequence && plan_.tensor == 1)
            problem("/sequence", "shares nothing among one tensor-parallel rank");
        if (plan_.tensor_overlap && !plan_.sequence)
            problem(
                "/tensor_overlap", "runs products beside the gathers and scatters of sequence, and "
                                   "all-reduces have no "
                                   "parts that one product needs; expected sequence true");
        const bool rings = plan_.tensor_exchange == PieceExchange::kRing;
        if (!rings && !plan_.tensor_overlap)
            problem(
                "/tensor_exchange",
                "says who exchanges pieces of products, and they are whole; expected "
                "tensor_overlap true, or ring");
        if (rings && plan_.tensor_pieces > 0)
            problem(
                "/tensor_pieces", "is set, and a ring has a piece a rank; expected 0, or group");
        if (plan_.unit.count() > 0 && plan_.sharding != Sharding::kParameters)
            problem("/unit", "is of weights that replicas share out; expected sharding parameters");
        if (plan_.sharding != Sharding::kNone && plan_.data * plan_.context == 1)
            problem("/sharding", "shares nothing among one data-parallel rank");
        if (plan_.recompute_every > 1 && plan_.recompute != Recompute::kFull)
            problem(
                "/recompute_every",
                "joins blocks of recompute full; expected 1, or recompute full");
        blocks_again("/recompute_one_in", plan_.recompute_one_in > 1, "1");
        blocks_again("/recompute_blocks", plan_.recompute_blocks > 0, "0");
        if (plan_.recompute_one_in > 1 && plan_.recompute_blocks > 0)
            problem(
                "/recompute_blocks",
                "and recompute_one_in both say which blocks are recomputed; expected one of them");
        schedule();
        return std::move(problems_);
    }

private:
    void problem(const char* key, std::string what) {
        problems_.emplace_back(key, std::move(what));
    }

    void blocks_again(const char* key, bool asked, const char* otherwise) {
        const bool blocks =
            std::any_of(network_.layers.begin(), network_.layers.end(), [](const Layer& layer) {
                return layer.block != kNoBlock;
            });
        if (asked && (plan_.recompute != Recompute::kFull || !blocks))
            problem(
                key,
                fmt::format(
                    "chooses among the blocks that recompute full repeats, and there are none; "
                    "expected {}, or recompute full of a network with blocks",
                    otherwise));
    }

    void tensor() {
        if (plan_.tensor == 1)
            return;
        const auto divides = [&](const Layer& layer) { return layer.split != TensorSplit::kNone; };
        if (std::none_of(network_.layers.begin(), network_.layers.end(), divides)) {
            problem(
                "/tensor",
                fmt::format(
                    "is {}, and {} has no layer that tensor parallelism divides; expected 1",
                    plan_.tensor, network_.name));
            return;
        }
        for (const Layer& layer : network_.layers) {
            if (layer.split == TensorSplit::kHeads && layer.heads % plan_.tensor != 0) {
                problem(
                    "/tensor", fmt::format(
                                   "{} ranks do not divide the {} heads of {}", plan_.tensor,
                                   layer.heads, layer.name));
                return;
            }
            if (layer.kv_heads % plan_.tensor != 0) {
                problem(
                    "/tensor",
                    fmt::format(
                        "{} ranks do not divide the {} heads of keys and values of {}, and several "
                        "would compute the same; expected a divisor",
                        plan_.tensor, layer.kv_heads, layer.name));
                return;
            }
        }
    }

    void context() {
        if (plan_.context == 1)
            return;
        if (network_.tokens == 0)
            problem(
                "/context",
                fmt::format("{} has no tokens that context parallelism shares out", network_.name));
        else if (network_.tokens % plan_.context != 0)
            problem(
                "/context",
                fmt::format(
                    "{} ranks do not divide samples of {} tokens", plan_.context, network_.tokens));
    }

    void expert_nodes() {
        const std::uint32_t ranks = plan_.expert * plan_.tensor * plan_.context;
        if (plan_.expert_nodes == 0)
            return;
        if (plan_.expert == 1)
            problem(
                "/expert_nodes",
                "bounds the nodes that a token is sent to, and each rank holds all experts; "
                "expected 0, or expert above 1");
        else if (plan_.node_ranks == 0)
            problem(
                "/expert_nodes",
                "needs the nodes that experts lie on, and ranks do not follow each other on nodes "
                "of as many; expected 0, or as many GPUs of each machine, one machine after the "
                "other");
        else if (
            ranks > plan_.node_ranks && (ranks % plan_.node_ranks != 0 ||
                                         plan_.node_ranks % (plan_.tensor * plan_.context) != 0))
            problem(
                "/expert_nodes",
                fmt::format(
                    "needs as many of the {} ranks that hold a layer's experts in each node of {} "
                    "GPUs; expected 0, or expert, tensor and context that divide so",
                    ranks, plan_.node_ranks));
    }

    void experts() {
        expert_nodes();
        if (plan_.expert == 1)
            return;
        if (plan_.data % plan_.expert != 0)
            problem(
                "/expert", fmt::format(
                               "{} expert-parallel ranks do not divide {} data-parallel ones",
                               plan_.expert, plan_.data));
        const auto experts =
            std::find_if(network_.layers.begin(), network_.layers.end(), [](const Layer& layer) {
                return layer.split == TensorSplit::kExperts && layer.groups > 1;
            });
        if (experts == network_.layers.end())
            problem("/expert", fmt::format("{} has no experts", network_.name));
        else if (experts->groups % plan_.expert != 0)
            problem(
                "/expert", fmt::format(
                               "{} ranks do not divide the {} experts of {}", plan_.expert,
                               experts->groups, experts->name));
    }

    /// A schedule from a file defines its number of devices and micro-batches.
    void given() {
        const PipelineSchedule& schedule = *plan_.given;
        if (schedule.devices() != plan_.pipeline)
            problem(
                "/schedule",
                fmt::format(
                    "is for {} devices, and pipeline is {}", schedule.devices(), plan_.pipeline));
        const std::uint32_t wanted = schedule.asynchronous ? plan_.mini_batches : plan_.accumulate;
        if (schedule.micro_batches != wanted)
            problem(
                "/schedule", fmt::format(
                                 "is for {} micro-batches, and {} is {}", schedule.micro_batches,
                                 schedule.asynchronous ? "mini_batches" : "accumulate", wanted));
        pace(schedule.asynchronous);
        if (plan_.messages == Messages::kBlocking)
            blocking(schedule);
        partition(schedule.stages());
    }

    void pace(bool never_flushes) {
        if (plan_.weights != WeightPolicy::kLatest && !never_flushes)
            problem(
                "/weights",
                fmt::format("{} flushes: every pass sees the latest weights", plan_.schedule));
        if (plan_.sharding != Sharding::kNone && !plan_.replicas.empty())
            problem(
                "/sharding",
                "divides what replicas of the whole pipeline hold, and replicas gives its stages "
                "others; expected none, or data instead of replicas");
        const std::uint32_t turns = rounds_of_replicas(plan_);
        if (never_flushes && plan_.mini_batches % turns != 0)
            problem(
                "/mini_batches",
                fmt::format(
                    "are {}, which leaves some replicas one behind; expected a multiple of {}",
                    plan_.mini_batches, turns));
        const std::uint32_t fewest = 3 * rounds_to_fill(plan_);
        if (never_flushes && plan_.mini_batches < fewest)
            problem(
                "/mini_batches", fmt::format(
                                     "are {}, too few for a steady pace; expected at least {}",
                                     plan_.mini_batches, fewest));
    }

    void schedule() {
        if (plan_.given) {
            given();
            return;
        }
        const ScheduleGenerator* generator = find_schedule(plan_.schedule);
        if (generator == nullptr) {
            std::string names;
            for (const ScheduleGenerator& known : schedule_generators())
                names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
            problem(
                "/schedule", fmt::format("knows no \"{}\"; expected {}", plan_.schedule, names));
            return;
        }
        const ScheduleShape shape = shape_of(plan_, *generator);
        if (const std::string why = generator->refusal(shape); !why.empty()) {
            problem("/schedule", fmt::format("{}: {}", plan_.schedule, why));
            return;
        }
        pace(generator->never_flushes);
        const std::uint64_t round =
            std::uint64_t{rounds_of_replicas(plan_)} * std::max(1U, plan_.update_every);
        if (!plan_.replicas.empty() && plan_.mini_batches % round != 0)
            problem(
                "/mini_batches",
                fmt::format(
                    "{} cannot be divided evenly over the replicas; expected a multiple of {}",
                    plan_.mini_batches, round));
        const std::uint32_t stages = stages_of(*generator, shape);
        partition(stages);
        passes(stages, shape.micro_batches, generator->never_flushes);
        if (problems_.empty() && plan_.messages == Messages::kBlocking)
            blocking(generator->make(shape));
    }

    /// A schedule's passes are all kept: before it is made, their number is checked.
    void passes(std::uint32_t stages, std::uint32_t micro_batches, bool never_flushes) {
        constexpr std::uint64_t kMostPasses = 20'000'000;
        const std::uint64_t made = std::uint64_t{stages} * micro_batches;
        if (made > kMostPasses)
            problem(
                never_flushes ? "/mini_batches" : "/accumulate",
                fmt::format(
                    "is {}, which is {} forward passes in {} stages; expected at most {} passes",
                    micro_batches, made, stages, kMostPasses));
    }

    void blocking(const PipelineSchedule& schedule) {
        if (!ends_blocking(schedule))
            problem(
                "/messages",
                fmt::format(
                    "are blocking, and devices of {} would wait for each other to take what they "
                    "send; expected overlapped or ahead",
                    plan_.schedule));
    }

    void partition(std::uint32_t stages) {
        if (stages > network_.layers.size()) {
            problem(
                "/pipeline",
                fmt::format(
                    "{} stages of {} layers; expected at most as many stages as layers", stages,
                    network_.layers.size()));
            return;
        }
        const std::vector<std::uint32_t>& first = plan_.partition;
        if (first.empty())
            return;
        if (first.size() != stages)
            problem(
                "/partition",
                fmt::format("names {} stages; the schedule has {}", first.size(), stages));
        else if (
            first.front() != 0 || first.back() >= network_.layers.size() ||
            std::adjacent_find(first.begin(), first.end(), std::greater_equal<>()) != first.end())
            problem(
                "/partition",
                fmt::format(
                    "is not a list of first layers; expected 0 and then larger numbers below {}",
                    network_.layers.size()));
    }

    const ParallelPlan& plan_;
    const Network& network_;
    PlanProblems problems_;
};

}  // namespace

PlanProblems problems_of(const ParallelPlan& plan, const Network& network) {
    return PlanCheck(plan, network).run();
}

bool never_flushes(const ParallelPlan& plan) {
    if (plan.given)
        return plan.given->asynchronous;
    const ScheduleGenerator* generator = find_schedule(plan.schedule);
    return generator != nullptr && generator->never_flushes;
}

std::uint32_t stages_of(const ParallelPlan& plan) {
    if (plan.given)
        return plan.given->stages();
    const ScheduleGenerator* generator = find_schedule(plan.schedule);
    return stages_of(*generator, shape_of(plan, *generator));
}

PipelineSchedule schedule_of(const ParallelPlan& plan, const StageWork* work) {
    if (plan.given)
        return *plan.given;
    const ScheduleGenerator* generator = find_schedule(plan.schedule);
    ScheduleShape shape = shape_of(plan, *generator);
    if (work != nullptr) {
        Kept kept{0, 0};
        shape.forward = shape.input_gradient = shape.weight_gradient = 0;
        for (std::uint32_t stage = 0; stage < work->stages(); ++stage) {
            shape.forward += work->seconds(PassKind::kForward, stage);
            shape.input_gradient += work->seconds(PassKind::kInputGradient, stage);
            shape.weight_gradient += work->seconds(PassKind::kWeightGradient, stage);
            kept.until_input_gradient += work->kept(stage).until_input_gradient;
            kept.until_weight_gradient += work->kept(stage).until_weight_gradient;
        }
        if (kept.until_input_gradient > 0)
            shape.weight_kept =
                std::min(1.0, kept.until_weight_gradient / kept.until_input_gradient);
    }
    return generator->make(shape);
}

}  // namespace switchfold
