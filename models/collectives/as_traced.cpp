// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/scheduler.h"
#include "models/collectives/running_collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace switchfold {

namespace {

/// As often as the memory shares itself out among kernels and packets.
constexpr Time kSlice = microseconds(1);
/// Slices that may be on their way to the memory at once, as a FIFO between ranks has slots.
constexpr std::uint64_t kDepth = 8;

/// A collective that takes a given time: its kernels hold their slots until all are resident, and
/// for that time. Nothing moves on the links. If the bytes are given that a rank's memory serves
/// meanwhile, they are asked of it evenly; where kernels beside it hold them up, or others have
/// their turn on the same links, it ends later.
class AsTraced final : public RunningCollective, private EventHandler {
public:
    AsTraced(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener) :
        scheduler_(environment.fabric.scheduler()),
        ports_(environment.ports),
        ranks_(spec.ranks),
        given_(spec.given),
        traffic_(spec.given_traffic),
        footprint_(spec.given_footprint),
        links_(spec.given_links),
        busy_(spec.given_busy),
        slices_((given_.count() + kSlice.count() - 1) / kSlice.count()),
        listener_(listener),
        joined_(spec.ranks.size(), false) {}

    void join(std::uint32_t position, Time /*start*/) override {
        joined_[position] = true;
        if (std::find(joined_.begin(), joined_.end(), false) != joined_.end())
            return;
        if (traffic_.count() == 0)
            return end(scheduler_.now() + given_);
        begin_ = scheduler_.now();
        served_.fill(begin_);
        scheduler_.at(begin_, *this, 0);
    }
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override {
        std::vector<std::string> lines;
        for (std::size_t position = 0; position < joined_.size(); ++position)
            if (!joined_[position] && lines.size() < limit)
                lines.push_back(
                    fmt::format("rank {} waits for room for its kernel", ranks_[position]));
        return lines;
    }
    [[nodiscard]] Bytes footprint() const override { return footprint_; }

private:
    void on_event(std::uint64_t slice) override {
        const std::uint64_t bytes =
            until(traffic_.count(), slice + 1) - until(traffic_.count(), slice);
        Time served = scheduler_.now();
        for (const std::uint32_t rank : ranks_)
            served = std::max(served, ports_[rank]->access(bytes / 2, bytes - bytes / 2));
        if (links_ != 0) {
            const Time taken(until(busy_.count(), slice + 1) - until(busy_.count(), slice));
            for (const std::uint32_t rank : ranks_)
                served =
                    std::max(served, ports_[rank]->take_links(links_, scheduler_.now(), taken));
        }
        served_[slice % kDepth] = served;
        if (slice + 1 == slices_)
            return end(std::max(begin_ + given_ + late_, served));
        const Time due = begin_ + Time(until(given_.count(), slice + 1));
        const Time next = std::max(due + late_, served_[(slice + 1) % kDepth]);
        late_ = next - due;
        scheduler_.at(next, *this, slice + 1);
    }
    /// What of a whole comes before a slice.
    [[nodiscard]] std::uint64_t until(std::uint64_t whole, std::uint64_t slice) const {
        return whole / slices_ * slice + whole % slices_ * slice / slices_;
    }
    void end(Time at) {
        for (std::uint32_t member = 0; member < joined_.size(); ++member)
            listener_.on_member_done(member, at);
    }

    Scheduler& scheduler_;
    const std::vector<RankPort*>& ports_;
    std::vector<std::uint32_t> ranks_;
    Time given_;
    Bytes traffic_;
    Bytes footprint_;
    std::uint32_t links_;
    Time busy_;  ///< of the given time, its links are
    std::uint64_t slices_;
    MemberListener& listener_;
    std::vector<bool> joined_;  ///< by position
    Time begin_;
    Time late_;                          ///< so much the memory has held it up
    std::array<Time, kDepth> served_{};  ///< when the last slices are, by their number
};

}  // namespace

std::unique_ptr<RunningCollective> make_as_traced(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::string& /*refused*/) {
    return std::make_unique<AsTraced>(environment, spec, listener);
}

}  // namespace switchfold
