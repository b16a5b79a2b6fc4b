// SPDX-License-Identifier: Apache-2.0
#include "validation/memory/published_rows.h"

#include "core/error.h"
#include "sim/config/load.h"
#include "sim/workload/kernel_model.h"
#include "training/memory/compare/largest_batch.h"
#include "training/memory/recompute/network_chain.h"
#include "training/memory/step/step_memory.h"
#include "validation/memory/named_network.h"
#include "workloads/kernels/memory_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace switchfold::validation {

namespace {

/// "4 billion parameters"
double parameters_of(const MemoryRow& row) {
    constexpr double kBillion = 1e9;
    return std::strtod(row.network.c_str(), nullptr) * kBillion;
}

/// Checkmate's memory: 16e9 bytes less weights and their gradients. Activations, and gradients of
/// the layer at work, follow from the chain.
using CheckmatePlan = std::uint64_t (*)(const std::vector<ChainUnit>&);
double largest_batch_of_vgg19(CheckmatePlan bytes) {
    const Network network = network_named("vgg19");
    const double memory = 16e9 - 2 * static_cast<double>(parameters(network)) * kSingle;
    constexpr std::uint32_t kBeyond = 4096;  // a sample makes tens of megabytes
    return largest_batch(kBeyond, [&](std::uint32_t samples) {
        NetworkChainOptions options;
        options.batch = samples;
        options.element = sizeof(float);
        return static_cast<double>(bytes(network_chain(network, options))) <= memory;
    });
}

std::uint64_t by_square_root(const std::vector<ChainUnit>& chain) {
    const auto root = static_cast<std::uint32_t>(std::lround(std::sqrt(chain.size())));
    return cost_of(chain, recompute_every(chain, root)).peak;
}

/// Chen et al. 2016, algorithm 3: a segment ends where what it makes exceeds a budget, and the best
/// budget is searched.
std::uint64_t by_greedy_segments(const std::vector<ChainUnit>& chain) {
    std::uint64_t all = 0;
    for (const ChainUnit& unit : chain)
        all += unit.input + unit.inside;
    std::uint64_t least = cost_of(chain, keep_all(chain)).peak;
    constexpr std::uint64_t kBudgets = 64;
    for (std::uint64_t i = 1; i <= kBudgets; ++i) {
        RecomputePlan plan;
        std::uint64_t made = 0;
        for (std::uint32_t unit = 0; unit < chain.size(); ++unit) {
            made += chain[unit].input + chain[unit].inside;
            if (plan.empty() || made > all / kBudgets * i) {
                plan.push_back({SegmentMode::kRecompute, unit, unit});
                made = 0;
            }
            plan.back().last = unit;
        }
        least = std::min(least, cost_of(chain, plan).peak);
    }
    return least;
}

std::uint64_t by_exact_plan(const std::vector<ChainUnit>& chain) {
    return least_recompute_memory(chain);
}

/// PyTorch's Adam before it had fused forms, kernel by kernel in 32 bits: arrays read and written.
constexpr std::array<std::pair<int, int>, 8> kAdamKernels{{
    {1, 1},  // exp_avg.mul_(beta1)
    {2, 1},  // .add_(grad)
    {1, 1},  // exp_avg_sq.mul_(beta2)
    {3, 1},  // .addcmul_(grad, grad)
    {1, 1},  // exp_avg_sq.sqrt()
    {1, 1},  // / sqrt(bias_correction2)
    {1, 1},  // .add_(eps)
    {3, 1},  // param.addcdiv_(exp_avg, denom)
}};

}  // namespace

PublishedRows::PublishedRows(const SuiteOptions& options) : options_(options) {
    rules_["largest_batch_by_square_root"] = [](const MemoryRow&) {
        return Answer{
            largest_batch_of_vgg19(by_square_root), "segments of the square root of its layers"};
    };
    rules_["largest_batch_by_greedy_segments"] = [](const MemoryRow&) {
        return Answer{
            largest_batch_of_vgg19(by_greedy_segments), "segments of the best budget of memory"};
    };
    rules_["largest_batch_by_exact_plan"] = [](const MemoryRow&) {
        return Answer{
            largest_batch_of_vgg19(by_exact_plan),
            "the least memory of a plan that runs no forward more than twice"};
    };
    rules_["unfused_adam"] = [this](const MemoryRow& row) {
        return unfused_adam(parameters_of(row));
    };
    rules_["host_adam"] = [](const MemoryRow& row) {
        return Answer{
            parameters_of(row) / MemoryChoice().host_rate, "the host's rate, chosen on these rows"};
    };
}

PublishedRows::Answer PublishedRows::unfused_adam(double parameters) const {
    const SystemParams system =
        load_system(options_.root / "configs/systems/dgx2_v100_host.json", {});
    const KernelTimes times(gpu_rates(*system.gpu));
    double seconds = 0;
    for (const auto& [read, written] : kAdamKernels) {
        MemoryKernel kernel;
        kernel.read = read * parameters * kSingle;
        kernel.written = written * parameters * kSingle;
        seconds += times.estimate(kernel).seconds();
    }
    return {seconds, "PyTorch's kernels of the time, one by one through a V100's memory"};
}

std::string PublishedRows::answer(const MemoryRow& row, Case& c) {
    const auto found = rules_.find(row.rule);
    if (found == rules_.end())
        return "no rule of its source is known for it";
    const Answer answer = found->second(row);
    if (!answer.value)
        return answer.how;
    c.simulated = *answer.value;
    c.how = answer.how;
    c.fitted = row.rule == "host_adam";
    c.group = c.fitted ? "updates by a host" : "published beside ours";
    // The sources tell neither the forms of Adam's kernels nor the budgets of the greedy search.
    if (row.quantity != "update_time" && row.rule != "largest_batch_by_greedy_segments") {
        ++accounted_;
        worst_ = std::max(worst_, std::abs(c.error()));
    }
    return {};
}

void PublishedRows::verdicts(SuiteResult& result) const {
    constexpr double kFewPercent = 0.05;
    if (accounted_ > 0)
        result.verdicts.push_back(
            {fmt::format("{} rows from their sources' rules: largest error", accounted_), worst_,
             kFewPercent});
}

}  // namespace switchfold::validation
