// SPDX-License-Identifier: Apache-2.0
#include "sim/long_run.h"

#include "sim/config/plan_params.h"
#include "sim/kinds/kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

namespace switchfold {

namespace {

/// When the pace so far tells something: the first operations are the set-up's.
constexpr double kLooks_s = 15;
constexpr double kLong_s = 300;
/// A smaller share is no pace: a single operation may hide more.
constexpr double kLeastShare = 0.002;
/// After as long without a pace a run is called long.
constexpr double kNoPace_s = 60;
constexpr Bytes kLargeUnit = kibibytes(64);
constexpr std::uint32_t kManyMicroBatches = 16;

}  // namespace

std::optional<std::string> LongRunNotice::of(const WorkerProgress& progress) {
    if (said_ || progress.phase == WorkPhase::kLearning || progress.elapsed_s < kLooks_s)
        return std::nullopt;
    const char* what =
        progress.phase == WorkPhase::kPreparing ? "preparing the workload" : "this run";
    if (progress.share < kLeastShare) {
        if (progress.elapsed_s < kNoPace_s)
            return std::nullopt;
        said_ = true;
        return fmt::format(
            "{} has done less than {:.1f} % in {:.0f} s, so its end cannot be estimated; {}", what,
            100 * kLeastShare, progress.elapsed_s, remedies());
    }
    constexpr double kMinute = 60;
    const double left = progress.elapsed_s * (1 / progress.share - 1);
    if (left < kLong_s)
        return std::nullopt;
    said_ = true;
    return fmt::format(
        "at its pace so far ({:.1f} % in {:.0f} s) {} takes about {:.0f} minutes more; {}",
        100 * progress.share, progress.elapsed_s, what, left / kMinute, remedies());
}

std::string LongRunNotice::remedies() const {
    std::vector<std::string> all;
    if (experiment_.may_leave_out() == Fidelity::kExact)
        all.emplace_back("with /fidelity auto what repeats is skipped");
    else if (experiment_.may_leave_out() == Fidelity::kAuto && !experiment_.functional)
        all.emplace_back(
            "with /fidelity fast packets are larger and more ranks stand for others, at up to 9 %");
    const PlanParams* plan = plan_of(experiment_);
    if (plan != nullptr && !kind_of(experiment_).follows_communication(experiment_))
        all.emplace_back(
            "with /workload/plan/fold (a strategy's plan: docs/plans.md) equal replicas are "
            "simulated once");
    if (experiment_.system->collectives->transfer_unit < kLargeUnit)
        all.push_back(fmt::format(
            "packets of 64 KiB (/system/collectives/transfer_unit, {}) are fewer",
            to_string(experiment_.system->collectives->transfer_unit)));
    if (plan != nullptr && plan->accumulate > kManyMicroBatches)
        all.push_back(fmt::format(
            "fewer micro-batches (/workload/plan/accumulate, {}) show the same steady state",
            plan->accumulate));
    if (experiment_.causes && kind_of(experiment_).facts().computes)
        all.emplace_back("without /causes each scenario runs once");
    if (all.empty())
        return "a smaller workload ends sooner";
    return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace switchfold
