// SPDX-License-Identifier: Apache-2.0
#include "validation/elastic/division.h"

#include "training/plan/division/batch_division.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace switchfold::validation {

namespace {

constexpr std::uint32_t kImages = 300;
constexpr std::size_t kGpuKinds = 3;
// Expected results for A100, RTX 2080 Ti and T4, linear between measured batches.
constexpr double kEqual = 0.4987;  // seconds
constexpr double kBest = 0.2635;
constexpr double kPublishedRatio = 1.89;

}  // namespace

void add_division(const StepTable& table, SuiteResult& result) {
    if (table.size() < kGpuKinds) {
        result.unmatched.push_back(
            {"division/300", fmt::format("has steps of {} GPUs; expected three", table.size())});
        return;
    }
    std::vector<std::vector<double>> seconds;
    for (const auto& [gpu, steps] : table)
        seconds.push_back(seconds_by_samples(steps));
    const std::vector<StepTimes> devices(seconds.begin(), seconds.end());
    const auto equal = divide_evenly(devices, kImages);
    const auto best = divide_exactly(devices, kImages);
    const auto greedy = divide_greedily(devices, kImages);
    if (!equal || !best || !greedy) {
        result.unmatched.push_back(
            {"division/300", "the GPUs were not measured with as many images together"});
        return;
    }
    const auto add = [&](const char* what, const char* unit, double known, double found) {
        Case one;
        one.id = fmt::format("division/300/{}", what);
        one.group = "division of a batch";
        one.quantity = unit == std::string("s") ? "time" : "ratio";
        one.unit = unit;
        one.measured = known;
        one.simulated = found;
        one.how = fmt::format(
            "{} images: {}", kImages,
            fmt::join(what == std::string("equal") ? equal->samples : best->samples, "/"));
        result.cases.push_back(std::move(one));
    };
    add("equal", "s", kEqual, equal->seconds);
    add("best", "s", kBest, best->seconds);
    add("equal_over_best", "1", kPublishedRatio, equal->seconds / best->seconds);
    result.verdicts.push_back(
        {"greedy division of 300 images beyond the exact one", greedy->seconds / best->seconds - 1,
         0});
}

}  // namespace switchfold::validation
