// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/jump/past_runs.h"
#include "models/collectives/jump/traffic_counts.h"
#include "models/collectives/rank_port.h"
#include "sim/core/units.h"
#include "sim/kernel/scheduler.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace switchfold {

class MemberListener;

class RecallListener {
public:
    /// Something else moves data from now on: the collective must move what is left of its data, a
    /// share in (0, 1].
    virtual void on_disturbed(double left) = 0;

protected:
    ~RecallListener() = default;
};

/// Lets a collective pass as an earlier one like it did, without moving its data. Both are alone on
/// the machine, beside kernels that do not draw from memory. What disturbs a recalled one before
/// its first member is done ends that; of the collectives like it, the next is simulated again.
class Recall final : private EventHandler, private DrawListener {
public:
    using Ports = std::vector<RankPort*>;
    /// `alone`: whether the only collective under way has all its members, and no host copy is.
    Recall(Scheduler& scheduler, TrafficCounts& counts, std::function<bool()> alone) :
        scheduler_(scheduler), counts_(counts), alone_(std::move(alone)) {}

    /// Whether there is an example: members should then join all at once, after recall().
    [[nodiscard]] bool knows(const Likeness& likeness) const { return past_.knows(likeness); }
    /// All members have joined, the first `spread` ago. \returns whether the collective passes as
    /// before; both listeners then hear of it, else nothing happens.
    bool recall(
        const Likeness& likeness,
        Time spread,
        const Ports& ports,
        MemberListener& members,
        RecallListener& listener);

    /// The first member joins a collective that may become an example.
    void first_joins(const MemberListener& of, Likeness likeness);
    /// And now the last.
    void all_joined(const MemberListener& of, const Ports& ports);
    /// A member has `left` of `all` rounds to go, or is done (0) at `end`.
    void told(
        const MemberListener& of,
        std::uint32_t position,
        std::uint32_t left,
        std::uint32_t all,
        Time end);
    /// It has ended, and is an example if it was undisturbed.
    void ended(const MemberListener& of);

    /// Something else begins to move data.
    void disturb();
    /// Simulated time that recalled collectives took.
    [[nodiscard]] Time recalled() const { return recalled_; }

private:
    /// A collective that may become an example.
    struct Recording {
        Likeness likeness;
        Time first;                 ///< its first member joined
        std::optional<Time> last;   ///< and its last
        std::vector<double> begun;  ///< counts at `first`
        PastRun run;
    };
    /// A recalled collective.
    struct Passing {
        Likeness likeness;
        PastRun run;
        Time joined;
        std::size_t next = 0;  ///< of what its members are told
        MemberListener* members = nullptr;
        RecallListener* listener = nullptr;
    };
    enum class Tag : std::uint8_t { kTold, kDisturbed };
    void on_event(std::uint64_t tag) override;
    void on_kernel_draws() override { disturb(); }
    void post(Tag tag, Time at);
    void tell();
    void give_way();
    /// Hears of kernels that begin to draw from these; of none if there are none.
    void listen(const Ports& ports);
    [[nodiscard]] bool undisturbed(const Ports& ports) const;

    Scheduler& scheduler_;
    TrafficCounts& counts_;
    std::function<bool()> alone_;
    PastRuns past_;
    std::map<const MemberListener*, Recording> recordings_;
    const MemberListener* watched_ = nullptr;  ///< the recording that anything would spoil now
    std::optional<Passing> passing_;
    bool may_be_disturbed_ = false;  ///< none of its members is done
    std::uint64_t generation_ = 0;   ///< of passing_, so that events of earlier ones are ignored
    Ports ports_;                    ///< that tell of kernels
    Time recalled_;
};

}  // namespace switchfold
