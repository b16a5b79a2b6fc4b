// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "core/units.h"
#include "models/collectives/rank_port.h"
#include "models/collectives/shortcuts/collective_key.h"
#include "models/collectives/shortcuts/recorded_collective.h"
#include "models/collectives/shortcuts/traffic_counts.h"
#include "models/probe.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace switchfold {

class MemberListener;

class MemoListener {
public:
    /// Something else moves data from now on: the collective must move what is left of its data, a
    /// share in [0, 1].
    virtual void on_disturbed(double left) = 0;
    /// From a member's joining until it moves data.
    [[nodiscard]] virtual Time before_work() const = 0;

protected:
    ~MemoListener() = default;
};

/// Lets a collective pass as an earlier one like it did, without moving its data. Both are alone on
/// the machine, beside kernels that do not draw from memory. What disturbs a recalled one before
/// its first member is done ends that: it moves the rest of its data, and has to fill its pipeline
/// for that. Those like it are then simulated until one, later two, four and so on were
/// undisturbed. So is one whose members join at other distances than the example's.
class CollectiveMemo final : public Probe, private EventHandler, private DrawListener {
public:
    using Ports = std::vector<RankPort*>;
    /// `alone`: whether the only collective under way has all its members, and no host copy is.
    CollectiveMemo(Scheduler& scheduler, TrafficCounts& counts, std::function<bool()> alone) :
        scheduler_(scheduler), counts_(counts), alone_(std::move(alone)) {}

    [[nodiscard]] bool knows(const CollectiveKey& key) const { return past_.contains(key); }
    /// How long a member of such a collective may wait for the others without a difference.
    [[nodiscard]] Time patience(const CollectiveKey& key) const {
        const auto found = past_.find(key);
        return found == past_.end() ? Time() : found->second.ignored();
    }
    /// All members have joined. \returns whether the collective passes as before; both listeners
    /// then hear of it. Else it may become an example.
    bool recall(
        const CollectiveKey& key, const RecordedCollective::Joining& joining, const Ports& ports,
        MemberListener& members, MemoListener& listener);
    /// A recalled one's members may be told by this alone.
    [[nodiscard]] bool passes(const MemberListener& members) const {
        return passing_ && passing_->members == &members && !telling_;
    }
    /// A member has `left` of `all` rounds to go, or is done (0) at `end`.
    void told(
        const MemberListener& of, std::uint32_t position, std::uint32_t left, std::uint32_t all,
        Time end);
    /// It is an example if it was undisturbed.
    void on_collective_end(const CollectiveSeen& collective, Time /*now*/) override {
        ended(*collective.members);
    }
    void on_collective_begin(const CollectiveSeen& /*collective*/, Time /*now*/) override {
        disturb();
    }
    void on_host_copy(Time /*now*/) override { disturb(); }
    /// Simulated time that recalled collectives took.
    [[nodiscard]] Time recalled() const { return recalled_; }

private:
    /// A collective that may become an example.
    struct Recording {
        CollectiveKey key;
        Time joined;                ///< its last member
        std::vector<double> begun;  ///< counts at that time
        RecordedCollective run;
    };
    /// A recalled collective.
    struct Passing {
        CollectiveKey key;
        RecordedCollective run;
        Time joined;
        std::size_t next = 0;  ///< of what its members are told
        MemberListener* members = nullptr;
        MemoListener* listener = nullptr;
    };
    /// A recording includes what its collective jumps over.
    [[nodiscard]] Time world(Time time) const { return time + scheduler_.skipped(); }
    enum class Tag : std::uint8_t { kTold, kDisturbed };
    void on_event(std::uint64_t tag) override;
    void on_kernel_draws() override { disturb(); }
    /// Something else begins to move data.
    void disturb();
    void ended(const MemberListener& of);
    void post(Tag tag, Time at);
    void tell();
    void give_way();
    void record(
        CollectiveKey key, const RecordedCollective::Joining& joining, const Ports& ports,
        const MemberListener& of);
    /// Hears of kernels that begin to draw from these; of none if there are none.
    void listen(const Ports& ports);
    [[nodiscard]] bool undisturbed(const Ports& ports) const;

    Scheduler& scheduler_;
    TrafficCounts& counts_;
    std::function<bool()> alone_;
    std::map<CollectiveKey, RecordedCollective> past_;
    /// Undisturbed collectives that are no examples yet, because recalled ones were disturbed.
    struct Caution {
        std::uint32_t left = 0;
        std::uint32_t next = 0;  ///< after the next such disturbance
    };
    std::map<CollectiveKey, Caution> caution_;
    std::map<const MemberListener*, Recording> recordings_;
    const MemberListener* watched_ = nullptr;  ///< the recording that anything would spoil now
    std::optional<Passing> passing_;
    bool may_be_disturbed_ = false;  ///< none of its members is done
    bool telling_ = false;           ///< calls its members now
    std::uint64_t generation_ = 0;   ///< of passing_, so that events of earlier ones are ignored
    Ports ports_;                    ///< that tell of kernels
    Time recalled_;
};

}  // namespace switchfold
