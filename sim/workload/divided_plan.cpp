// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/divided_plan.h"

#include "core/error.h"
#include "sim/workload/memory_check.h"
#include "training/plan/division/batch_division.h"
#include "training/plan/division/replica_times.h"
#include "training/plan/step/plan_memory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace switchfold {

namespace {

std::string_view name_of(DivisionMethod method) {
    switch (method) {
    case DivisionMethod::kEven:
        return "even";
    case DivisionMethod::kGreedy:
        return "greedy, which is optimal for times that never fall";
    case DivisionMethod::kExact:
        return "the exact programme, since a time falls with more samples";
    case DivisionMethod::kPadded:
        return "greedy on times that never fall, since the exact programme is too large";
    }
    return "";
}

/// "190, 68, 42"; long lists are shortened to the first values and the total number.
template <class T>
std::string listed(const std::vector<T>& values) {
    constexpr std::size_t kMost = 16;
    const std::size_t shown = std::min(kMost, values.size());
    return fmt::format(
        "{}{}",
        fmt::join(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
        shown < values.size() ? fmt::format(" and {} more", values.size() - shown) : "");
}

class Divider {
public:
    Divider(
        const PlanParams& params, const ParallelPlan& plan, const Network& network,
        const RankGpus& gpus, const std::vector<std::optional<KernelTimes>>& times,
        MemoryCheck check, PlanProblems& problems) :
        params_(params),
        plan_(plan),
        network_(network),
        gpus_(gpus),
        times_(times),
        map_(plan),
        replica_times_(network, plan_),
        check_(check),
        problems_(problems) {}

    std::optional<DividedPlan> run() {
        if (params_.global_batch > 0 && never_flushes(plan_))
            fail(
                "/global_batch",
                "is for steps that flush, and the schedule never does; expected 0");
        if (!problems_.empty())
            return {};
        cut();
        share_out();
        if (problems_.empty())
            make_steps();
        if (problems_.empty() && !params_.memory)
            check_memory_of_ranks();
        if (!problems_.empty())
            return {};
        return std::move(out_);
    }

private:
    /// Work of a replica in a step, and the kinds of its GPUs.
    struct Replica {
        std::set<std::uint32_t> kinds;
        ReplicaGpus gpus;
        std::uint32_t micro_batch = 1;  ///< upper limit
        std::uint32_t samples = 0;
    };

    void fail(const char* key, std::string what) { problems_.emplace_back(key, std::move(what)); }

    [[nodiscard]] std::uint32_t data_of(std::uint32_t rank) const { return map_.place(rank).data; }

    /// Kinds of GPUs of the ranks of these devices, for one replica or, without it, for all.
    [[nodiscard]] std::set<std::uint32_t>
    kinds_of(const std::set<std::uint32_t>& devices, std::optional<std::uint32_t> replica) const {
        std::set<std::uint32_t> kinds;
        for (std::uint32_t rank = 0; rank < map_.ranks(); ++rank) {
            const RankPlace place = map_.place(rank);
            if (devices.contains(place.device) && (!replica || place.data == *replica))
                kinds.insert(gpus_.kind(rank));
        }
        return kinds;
    }
    [[nodiscard]] ReplicaGpus gpus_of_stages(std::optional<std::uint32_t> replica) const {
        const PipelineSchedule schedule = schedule_of(plan_);
        ReplicaGpus stages(schedule.stages());
        for (std::uint32_t stage = 0; stage < schedule.stages(); ++stage)
            for (const std::uint32_t kind : kinds_of(schedule.devices_with(stage), replica))
                stages[stage].push_back(&*times_[kind]);
        return stages;
    }

    /// Cuts the network equally for all ranks, because replicas sum gradients of the same weights.
    void cut() {
        if (plan_.partition.empty())
            plan_.partition =
                best_partition(network_, gpus_of_stages({}), plan_, schedule_of(plan_));
        for (std::uint32_t replica = 0; replica < plan_.data; ++replica) {
            Replica& one = replicas_.emplace_back();
            one.gpus = gpus_of_stages(replica);
            for (std::uint32_t rank = 0; rank < map_.ranks(); ++rank)
                if (data_of(rank) == replica)
                    one.kinds.insert(gpus_.kind(rank));
        }
        plan_.micro_batch = params_.micro_batch;
        plan_.last_micro_batch = 0;
    }

    /// The largest micro-batch that fits a replica's GPUs.
    [[nodiscard]] std::uint32_t room_of(const Replica& replica) {
        std::uint32_t most = largest_;
        if (check_ == MemoryCheck::kIgnore || params_.memory)
            return most;
        for (const std::uint32_t kind : replica.kinds) {
            const auto [at, fresh] = room_.try_emplace(kind, largest_);
            if (fresh) {
                ParallelPlan plan = plan_;
                plan.micro_batch = largest_;
                plan.accumulate = micro_batches(even_share(params_), largest_).count;
                const TrainingStep step(network_, *times_[kind], plan);
                at->second =
                    largest_micro_batch(*gpus_.kinds()[kind], step.plan(), plan_memory(step));
            }
            most = std::min(most, at->second);
        }
        return most;
    }

    void share_out() {
        if (params_.global_batch == 0) {
            for (Replica& replica : replicas_) {
                replica.micro_batch = params_.micro_batch;
                replica.samples = params_.micro_batch * params_.accumulate;
            }
            out_.notes.push_back("ranks have several kinds of GPUs and equal shares of the batch");
            return;
        }
        largest_ = std::min(params_.micro_batch, params_.global_batch);
        const auto count = static_cast<std::uint32_t>(replicas_.size());
        const std::uint32_t batch = params_.global_batch;
        std::vector<std::uint32_t> even(count);
        for (std::uint32_t i = 0; i < count; ++i)
            even[i] = batch / count + (i < batch % count ? 1 : 0);
        for (Replica& replica : replicas_)
            replica.micro_batch = params_.division.balanced ? room_of(replica) : largest_;
        std::vector<std::uint32_t> samples = even;
        std::string how = "equal shares";
        if (params_.division.balanced) {
            const auto division = balance(batch);
            if (!division) {
                fail(
                    "/division",
                    fmt::format(
                        "is balanced, and no division of {} samples of {} fits the GPUs' memory "
                        "and the schedule; expected fewer samples, or a smaller micro_batch",
                        batch, network_.name));
                return;
            }
            samples = division->samples;
            how = fmt::format("balanced by {}", name_of(division->method));
        } else if (!params_.division.samples.empty()) {
            samples = params_.division.samples;
            how = "as given";
            if (!check_given(samples))
                return;
        }
        for (std::uint32_t i = 0; i < count; ++i)
            replicas_[i].samples = samples[i];
        if (plan_.sharding >= Sharding::kGradients)
            divide_alike();
        tell(samples, even, how);
    }

    /// Replicas that exchange in each micro-batch need equally many of them: the least number with
    /// which each replica's micro-batches, smaller where it has fewer samples, are within its
    /// limit.
    void divide_alike() {
        std::set<std::uint32_t> counts;
        std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
        for (const Replica& replica : replicas_) {
            if (replica.samples == 0)
                continue;
            counts.insert(micro_batches(replica.samples, replica.micro_batch).count);
            most = std::min(most, replica.samples);
        }
        if (counts.size() < 2)
            return;
        const auto divides = [&](std::uint32_t count) {
            return std::all_of(replicas_.begin(), replicas_.end(), [&](const Replica& replica) {
                return replica.samples == 0 ||
                       micro_batches(replica.samples, size_of(replica, count)).count == count;
            });
        };
        for (std::uint32_t count = *counts.rbegin(); count <= most; ++count) {
            if (!divides(count))
                continue;
            for (Replica& replica : replicas_)
                replica.micro_batch = std::max(1U, size_of(replica, count));
            alike_ = true;
            out_.notes.push_back(fmt::format(
                "every replica has {} micro-batches, since with this sharding they exchange in "
                "each; that with fewest samples has them of {}",
                count,
                std::min_element(
                    replicas_.begin(), replicas_.end(),
                    [](const Replica& a, const Replica& b) {
                        return a.micro_batch < b.micro_batch;
                    })
                    ->micro_batch));
            return;
        }
    }
    /// Samples of a micro-batch if a replica has so many.
    [[nodiscard]] static std::uint32_t size_of(const Replica& replica, std::uint32_t count) {
        return (replica.samples + count - 1) / count;
    }

    [[nodiscard]] bool check_given(const std::vector<std::uint32_t>& samples) {
        if (samples.size() != replicas_.size()) {
            fail(
                "/division", fmt::format(
                                 "has {} shares, and there are {} replicas; expected one each",
                                 samples.size(), replicas_.size()));
            return false;
        }
        const auto sum = std::accumulate(samples.begin(), samples.end(), std::uint64_t{0});
        if (sum != params_.global_batch)
            fail(
                "/division", fmt::format(
                                 "adds up to {} samples, and global_batch is {}; expected as many",
                                 sum, params_.global_batch));
        return sum == params_.global_batch;
    }

    /// Balances by replicas' times; equal replicas share a table.
    std::optional<BatchDivision> balance(std::uint32_t batch) {
        std::map<std::pair<ReplicaGpus, std::uint32_t>, std::vector<double>> tables;
        std::vector<StepTimes> devices;
        for (const Replica& replica : replicas_) {
            const auto [at, fresh] = tables.try_emplace({replica.gpus, replica.micro_batch});
            if (fresh)
                at->second = replica.micro_batch == 0
                                 ? std::vector<double>{0}
                                 : replica_times_.table(replica.gpus, replica.micro_batch, batch);
            devices.emplace_back(at->second);
        }
        return divide(devices, batch);
    }

    /// Compute times of the replicas with samples.
    StepSpread spread(const std::vector<std::uint32_t>& samples) {
        std::vector<double> seconds;
        for (std::size_t i = 0; i < replicas_.size(); ++i)
            if (samples[i] > 0)
                seconds.push_back(replica_times_.seconds(
                    replicas_[i].gpus, std::max(1U, replicas_[i].micro_batch), samples[i]));
        return spread_of(seconds);
    }
    static std::string told(const StepSpread& spread) {
        return fmt::format(
            "the slowest computes {:.4g} s, {:.3f} times the mean, standard deviation {:.2g} s",
            spread.longest, spread.longest_over_mean(), spread.deviation);
    }

    void tell_weights(const std::vector<std::uint32_t>& samples) {
        std::vector<std::string> weights;
        for (const std::uint32_t one : samples)
            weights.push_back(
                fmt::format("{:.4g}", static_cast<double>(one) / params_.global_batch));
        out_.notes.push_back(fmt::format(
            "gradients are summed with weights {}: replicas scale their loss by them, which takes "
            "no kernel of its own",
            listed(weights)));
    }

    void tell(
        const std::vector<std::uint32_t>& samples, const std::vector<std::uint32_t>& even,
        const std::string& how) {
        const StepSpread own = spread(samples);
        out_.notes.push_back(fmt::format(
            "{} samples are divided {} ({}): {}", params_.global_batch, listed(samples), how,
            told(own)));
        if (samples != even) {
            const StepSpread before = spread(even);
            out_.notes.push_back(fmt::format(
                "equal shares {}: {}; {:.2f} times as long", listed(even), told(before),
                before.longest / own.longest));
            if (!params_.average)
                tell_weights(samples);
        }
        for (std::size_t i = 0; i < samples.size(); ++i)
            if (samples[i] == 0)
                out_.notes.push_back(fmt::format("replica {} has no samples and takes no part", i));
        const bool apart = std::any_of(replicas_.begin(), replicas_.end(), [&](const Replica& one) {
            return one.micro_batch != largest_;
        });
        if (apart && !alike_) {
            std::vector<std::uint32_t> most;
            for (const Replica& replica : replicas_)
                most.push_back(replica.micro_batch);
            out_.notes.push_back(fmt::format(
                "micro-batches have at most {} samples, by the memory of the GPUs", listed(most)));
        }
    }

    /// A replica's plan; `given` is the schedule that all its ranks must follow.
    [[nodiscard]] ParallelPlan plan_of(const Replica& replica) const {
        ParallelPlan plan = plan_;
        const MicroBatches parts = micro_batches(replica.samples, replica.micro_batch);
        plan.micro_batch = parts.samples;
        plan.accumulate = parts.count;
        plan.last_micro_batch = parts.last;
        if (params_.average) {
            plan.data = 1;
            return plan;
        }
        for (const Replica& one : replicas_)
            plan.samples.push_back(one.samples);
        return plan;
    }

    /// Rejects unequal micro-batches if replicas exchange data that depends on them.
    void check_exchanges() {
        std::set<std::uint32_t> counts;
        std::set<std::uint32_t> samples;
        for (const Replica& replica : replicas_) {
            samples.insert(replica.samples);
            if (replica.samples == 0)
                continue;
            const MicroBatches parts = micro_batches(replica.samples, replica.micro_batch);
            counts.insert(parts.count);
            out_.equal_samples = out_.equal_samples && parts.last == parts.samples;
        }
        out_.equal_samples = out_.equal_samples && samples.size() == 1;
        if (plan_.sharding >= Sharding::kGradients && counts.size() > 1)
            fail(
                "/division",
                fmt::format(
                    "gives replicas {} micro-batches, with this sharding they exchange in each, "
                    "and no number of them divides all; expected shares that some number of "
                    "micro-batches divides, or sharding none or optimizer",
                    fmt::join(counts, ", ")));
        if (params_.average && samples.contains(0))
            fail(
                "/division",
                "leaves a replica without samples, whose weights would be averaged untrained; "
                "expected one or more each");
        if (plan_.expert > 1 && samples.size() > 1)
            fail(
                "/division",
                "gives replicas different numbers of samples, and expert-parallel ones exchange "
                "their tokens; expected equal shares, or expert 1");
    }

    void make_steps() {
        check_exchanges();
        if (!problems_.empty())
            return;
        using Like =
            std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::set<std::uint32_t>>;
        std::map<Like, const TrainingStep*>
            made;  // by kind, samples, micro-batch, kinds of the replica
        std::map<std::uint32_t, const TrainingStep*> first;  // by replica
        out_.by_rank.assign(map_.ranks(), nullptr);
        for (std::uint32_t rank = 0; rank < map_.ranks(); ++rank) {
            const Replica& replica = replicas_[data_of(rank)];
            if (replica.samples == 0)
                continue;
            const TrainingStep*& step =
                made[{gpus_.kind(rank), replica.samples, replica.micro_batch, replica.kinds}];
            const TrainingStep*& of_replica = first[data_of(rank)];
            if (step == nullptr) {
                ParallelPlan plan = plan_of(replica);
                add_problems(problems_of(plan, network_));
                if (!problems_.empty())
                    return;
                // A schedule searched for one kind's times applies to the whole replica.
                if (of_replica != nullptr && !plan.given)
                    plan.given = std::make_shared<PipelineSchedule>(of_replica->schedule());
                out_.steps.push_back(std::make_unique<TrainingStep>(
                    network_, *times_[gpus_.kind(rank)], std::move(plan)));
                step = out_.steps.back().get();
            }
            if (of_replica == nullptr)
                of_replica = step;
            out_.by_rank[rank] = step;
        }
    }

    void add_problems(const PlanProblems& more) {
        for (const auto& problem : more)
            if (std::find(problems_.begin(), problems_.end(), problem) == problems_.end())
                problems_.push_back(problem);
    }

    /// Checks each rank against its own GPU.
    void check_memory_of_ranks() {
        std::map<std::pair<std::uint32_t, const TrainingStep*>, std::set<std::uint32_t>> devices;
        for (std::uint32_t rank = 0; rank < map_.ranks(); ++rank)
            if (const TrainingStep* step = out_.by_rank[rank])
                devices[{gpus_.kind(rank), step}].insert(map_.place(rank).device);
        std::map<std::uint32_t, std::pair<double, std::string>> fullest;  // by kind
        for (const std::unique_ptr<TrainingStep>& step : out_.steps)
            for (std::uint32_t kind = 0; kind < gpus_.kinds().size(); ++kind) {
                const auto own = devices.find({kind, step.get()});
                if (own == devices.end())
                    continue;
                std::vector<MemoryBytes> memory = plan_memory(*step);
                double most = 0;
                for (std::uint32_t device = 0; device < memory.size(); ++device) {
                    if (!own->second.contains(device))
                        memory[device] = {};
                    most = std::max(most, memory[device].all());
                }
                PlanProblems found;
                const std::string what =
                    check_memory(*gpus_.kinds()[kind], step->plan(), memory, check_, found);
                add_problems(found);
                std::pair<double, std::string>& of_kind = fullest[kind];
                if (most > of_kind.first)
                    of_kind = {most, what};
            }
        for (const auto& [kind, memory] : fullest)
            out_.notes.push_back(
                fullest.size() == 1 ? "the plan needs up to " + memory.second
                                    : fmt::format(
                                          "on {} the plan needs up to {}",
                                          gpus_.kinds()[kind]->name, memory.second));
    }

    const PlanParams& params_;
    ParallelPlan plan_;
    const Network& network_;
    const RankGpus& gpus_;
    const std::vector<std::optional<KernelTimes>>& times_;
    RankMap map_;
    ReplicaTimes replica_times_;
    MemoryCheck check_;
    PlanProblems& problems_;
    std::vector<Replica> replicas_;
    bool alike_ = false;         ///< replicas were given equally many micro-batches
    std::uint32_t largest_ = 1;  ///< largest micro-batch allowed by the plan
    std::map<std::uint32_t, std::uint32_t> room_;  ///< samples of a micro-batch, by kind
    DividedPlan out_;
};

}  // namespace

std::uint32_t even_share(const PlanParams& params) {
    return std::max(1U, (params.global_batch + params.data - 1) / params.data);
}

std::string told_normalisation(const ParallelPlan& plan, const Network& network) {
    const bool normalises =
        std::any_of(network.layers.begin(), network.layers.end(), [](const Layer& layer) {
            return layer.type == "batchnorm";
        });
    if (!normalises || plan.accumulate == 1)
        return "";
    return fmt::format(
        "batch normalisation takes its statistics over each micro-batch of at most {} samples: "
        "training differs from that with the whole batch at once, however the gradients are summed",
        plan.micro_batch);
}

std::optional<DividedPlan> divided_plan(
    const PlanParams& params, const ParallelPlan& plan, const Network& network,
    const RankGpus& gpus, const std::vector<std::optional<KernelTimes>>& times, MemoryCheck check,
    PlanProblems& problems) {
    return Divider(params, plan, network, gpus, times, check, problems).run();
}

}  // namespace switchfold
