// SPDX-License-Identifier: Apache-2.0
#include "validation/memory/g10_rows.h"

#include "validation/memory/flash_neuron.h"
#include "validation/memory/g10_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace switchfold::validation {

namespace {

// Of its machine: 40 GB of memory and an SSD of 3.2 GB/s, both as powers of two in its source.
constexpr std::uint64_t kPages = (std::uint64_t{40} << 30U) / kPage;
constexpr double kSsd = 3.2 * 1024 * 1024 * 1024;
constexpr double kMilli = 1e3;
constexpr std::string_view kFlashNeuron = "FlashNeuron";
constexpr std::string_view kIdeal = "ideal (sum of kernels)";

}  // namespace

G10Rows::Step G10Rows::read(const Profile& profile) const {
    const std::string kernels = fmt::format("g10/{}_{}", profile.file, profile.batch);
    std::array<std::filesystem::path, 3> files;
    const std::array names{
        fmt::format("g10/{}.net.txt", profile.file),
        kernels + ".kernel_ms.txt",
        kernels + ".workspace_bytes.txt"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto file = find_profile_(names[i]);
        if (!file)
            return {"no profile " + names[i], 0, {}};
        files[i] = *file;
    }
    const AccessSchedule schedule =
        read_g10_step({files[0], files[1], files[2], profile.batch, profile.weights_below});
    Step step;
    for (const AccessStep& kernel : schedule.steps)
        step.ideal += kernel.seconds * kMilli;
    const auto choice = choose_for_flash_neuron(schedule, kPages);
    const auto times = choice ? run_flash_neuron(schedule, *choice, kPages, kSsd) : std::nullopt;
    if (!times)
        return step;
    step.flash_neuron = {
        {"iteration_time", times->seconds * kMilli},
        {"stalled", times->stalled() * kMilli},
        {"transfer_overlapped", times->overlapped() * kMilli},
        {"compute_alone", (times->compute - times->overlapped()) * kMilli},
        {"pages_moved_each_way", static_cast<double>(choice->pages)},
        {"bytes_moved_each_way", static_cast<double>(choice->pages * kPage) / 1e9}};
    return step;
}

const G10Rows::Step& G10Rows::step_of(const Profile& profile) {
    const auto known = steps_.find(profile.file);
    return known != steps_.end() ? known->second
                                 : steps_.emplace(profile.file, read(profile)).first->second;
}

std::string G10Rows::answer(const MemoryRow& row, Case& c) {
    if (row.policy != kIdeal && row.policy != kFlashNeuron)
        return "is of pages that move on faults or by a plan over SSD and host, which is not "
               "modelled";
    const auto profile = std::find_if(kProfiles.begin(), kProfiles.end(), [&](const Profile& one) {
        return one.network == row.network && one.batch == row.batch;
    });
    if (profile == kProfiles.end())
        return "needs kernel times of its batch, which are not at hand here";
    const Step& step = step_of(*profile);
    if (!step.missing.empty())
        return step.missing;
    if (row.policy == kIdeal) {
        c.simulated = step.ideal;
        c.how = "sum of the profile's kernels";
    } else {
        const auto found = step.flash_neuron.find(row.quantity);
        if (found == step.flash_neuron.end())
            return "is a quantity that is not modelled, or its step does not fit";
        c.simulated = found->second;
        c.how = "its kernels, FlashNeuron's rule, memory in one piece a tensor";
        if (row.quantity == "iteration_time") {
            ++ratios_;
            worst_ = std::max(worst_, std::abs(c.simulated - row.value) / step.ideal);
        }
    }
    c.group = "FlashNeuron's steps, simulated by others";
    return {};
}

void G10Rows::verdicts(SuiteResult& result) const {
    constexpr double kOfKernels = 0.03;
    if (ratios_ > 0)
        result.verdicts.push_back(
            {fmt::format(
                 "{} iterations by FlashNeuron: largest difference as a share of the kernels",
                 ratios_),
             worst_,
             kOfKernels});
}

}  // namespace switchfold::validation
