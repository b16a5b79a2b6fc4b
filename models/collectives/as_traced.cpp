// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/running_collective.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

namespace {

/// A collective that takes its traced time: its kernels hold their slots until all are resident,
/// and for that time. What it moves is unknown, so nothing moves.
class AsTraced final : public RunningCollective {
public:
    AsTraced(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener) :
        scheduler_(environment.fabric.scheduler()),
        ranks_(spec.ranks),
        given_(spec.given),
        listener_(listener),
        joined_(spec.ranks.size(), false) {}

    void join(std::uint32_t position, Time /*start*/) override {
        joined_[position] = true;
        if (std::find(joined_.begin(), joined_.end(), false) != joined_.end())
            return;
        const Time end = scheduler_.now() + given_;
        for (std::uint32_t member = 0; member < joined_.size(); ++member)
            listener_.on_member_done(member, end);
    }
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override {
        std::vector<std::string> lines;
        for (std::size_t position = 0; position < joined_.size(); ++position)
            if (!joined_[position] && lines.size() < limit)
                lines.push_back(
                    fmt::format("rank {} waits for room for its kernel", ranks_[position]));
        return lines;
    }
    [[nodiscard]] Bytes footprint() const override { return {}; }

private:
    Scheduler& scheduler_;
    std::vector<std::uint32_t> ranks_;
    Time given_;
    MemberListener& listener_;
    std::vector<bool> joined_;  ///< by position
};

}  // namespace

std::unique_ptr<RunningCollective> make_as_traced(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::string& /*refused*/) {
    return std::make_unique<AsTraced>(environment, spec, listener);
}

}  // namespace switchfold
