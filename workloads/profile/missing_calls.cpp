// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/missing_calls.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

/// A communication kernel's event, and the index of its details.
struct Run {
    std::size_t event = 0;
    std::uint32_t details = 0;
};

class Repetition {
public:
    Repetition(const RawTrace& raw, const std::vector<Run>& runs) : raw_(raw), runs_(runs) {}

    /// The fewest runs after which all that have a call repeat. Nothing if they never do, or are
    /// too few to tell: every place of the period must be seen twice.
    [[nodiscard]] std::optional<std::size_t> period() const {
        for (std::size_t period = 1; 2 * period <= runs_.size(); ++period)
            if (repeats_after(period))
                return period;
        return {};
    }

    [[nodiscard]] bool has_call(std::size_t run) const {
        const CollectiveDetails& d = raw_.collectives[runs_[run].details];
        return d.name != 0 || d.call != 0 || d.in_elements != 0 || d.out_elements != 0;
    }

private:
    [[nodiscard]] auto stated(std::size_t run) const {
        const CollectiveDetails& d = raw_.collectives[runs_[run].details];
        return std::tuple(
            d.name,
            d.datatype,
            d.group_name,
            d.group_ranks,
            d.group_size,
            d.in_elements,
            d.out_elements,
            d.call,
            d.call_dims,
            d.call_types);
    }

    [[nodiscard]] bool repeats_after(std::size_t period) const {
        std::vector<std::size_t> seen(period);
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            if (!has_call(i))
                continue;
            ++seen[i % period];
            if (i >= period && has_call(i - period) && stated(i) != stated(i - period))
                return false;
        }
        return std::all_of(seen.begin(), seen.end(), [](std::size_t n) { return n >= 2; });
    }

    const RawTrace& raw_;
    const std::vector<Run>& runs_;
};

}  // namespace

std::uint64_t find_missing_calls(RawTrace& raw) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Run>> by_kernel;
    std::size_t index = 0;
    for (const RawGpuEvent& gpu : std::as_const(raw.gpu).pass()) {
        if (gpu.work == GpuWork::kCommunication && gpu.details != RawGpuEvent::kNone)
            by_kernel[{gpu.task, gpu.stream}].push_back({index, gpu.details});
        ++index;
    }
    std::uint64_t found = 0;
    for (const auto& [kernel, runs] : by_kernel) {
        const Repetition repetition(raw, runs);
        std::vector<std::size_t> missing;
        for (std::size_t i = 0; i < runs.size(); ++i)
            if (!repetition.has_call(i))
                missing.push_back(i);
        if (missing.empty())
            continue;
        const auto period = repetition.period();
        if (!period)
            continue;
        for (const std::size_t i : missing) {
            std::size_t like = i % *period;
            while (!repetition.has_call(like))
                like += *period;
            raw.gpu[runs[i].event].details = runs[like].details;
            ++found;
        }
    }
    return found;
}

}  // namespace switchfold
