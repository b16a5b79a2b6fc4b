// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "core/units.h"
#include "models/collectives/rank_port.h"
#include "models/collectives/shortcuts/collective_example.h"
#include "models/collectives/shortcuts/collective_key.h"
#include "models/collectives/shortcuts/collective_recording.h"
#include "models/collectives/shortcuts/joined_apart.h"
#include "models/collectives/shortcuts/part_counts.h"
#include "models/collectives/shortcuts/passage.h"
#include "models/collectives/shortcuts/recorded_collective.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace switchfold {

class MemberListener;

/// Which collectives may pass as an earlier one did.
enum class Recall : std::uint8_t {
    kNever,
    kAlone,          ///< while no kernel draws from a member's memory
    kTogether,       ///< beside kernels too, of those whose members end together: not trees
    kBesideKernels,  ///< those too beside which kernels draw
};

class MemoListener {
public:
    /// Something else moves data from now on: the collective must move what is left of its data, a
    /// share in [0, 1].
    virtual void on_disturbed(double left) = 0;
    /// It passes though some members had begun: these send no more themselves.
    virtual void drop_begun() = 0;
    /// From a member's joining until it moves data.
    [[nodiscard]] virtual Time before_work() const = 0;

protected:
    ~MemoListener() = default;
};

/// Lets a collective pass as an earlier one like it did, without moving its data. Both are alone on
/// their part of the machine but for kernels. Beside these it has the pace that such collectives
/// had beside kernels that left as much of the memory's bandwidth, and asks the memories for as
/// much as they did. After one whose pace had to be guessed for long the next is simulated. What
/// else disturbs a recalled one before its first member is done ends that: it moves the rest of its
/// data, and has to fill its pipeline for that. If it had moved some, those like it are then
/// simulated until one, later two, four and so on were undisturbed. So is one whose members join at
/// other distances than the example's.
class CollectiveMemo final : private EventHandler, private MemoryLeftListener {
public:
    /// `counts`: what its collectives add to.
    CollectiveMemo(Scheduler& scheduler, PartCounts counts, bool beside_kernels) :
        scheduler_(scheduler), counts_(std::move(counts)), beside_kernels_(beside_kernels) {}

    [[nodiscard]] bool knows(const CollectiveKey& key) const { return patience(key) > Time(); }
    /// How long a member of such a collective may wait for the others without a difference.
    [[nodiscard]] Time patience(const CollectiveKey& key) const {
        const auto found = past_.find(key);
        return found == past_.end() ? Time() : found->second.patience();
    }
    /// The first member joins, and nothing else touches what its data may.
    void begins(const MemberListener& of);
    /// All members have joined, none is done, and nothing slows its data. \returns whether the
    /// collective passes as before; both listeners then hear of it. Else it may become an example
    /// if it is `alone`: nothing touches what its data may.
    bool recall(
        const CollectiveKey& key, const RecordedCollective::Joining& joining, const Ports& ports,
        bool alone, MemberListener& members, MemoListener& listener);
    /// A recalled one's members may be told by this alone.
    [[nodiscard]] bool passes(const MemberListener& members) const {
        return passing_ && passing_->members == &members && !telling_;
    }
    /// A member has `left` of `all` rounds to go, or is done (0) at `end`.
    void told(
        const MemberListener& of, std::uint32_t position, std::uint32_t left, std::uint32_t all,
        Time end);
    /// Its last member has. It is an example if it was undisturbed.
    void ended(const MemberListener& of);
    /// Something else begins to move data over its links or through its GPUs' memories.
    void touch();
    /// That slows it.
    void disturb();
    /// Simulated time that recalled collectives took.
    [[nodiscard]] Time recalled() const { return recalled_; }

private:
    /// One of which some members have joined, and nothing else has moved data since.
    struct Prelude {
        const MemberListener* of = nullptr;
        std::vector<double> counts;  ///< before it
    };
    /// A recalled collective.
    struct Passing {
        CollectiveKey key;
        Passage passage;
        MemberListener* members = nullptr;
        MemoListener* listener = nullptr;
        std::vector<double> traffic{};  ///< that is to be counted
        std::vector<double> since{};    ///< counts when early members began to move some of it
        Time guessed_for;               ///< so long its pace was a guess
        std::optional<Time> guessed_since;
        std::vector<bool> moves;  ///< by position: it has not ended
    };
    /// Beside kernels, whose ends bring members to a collective at different distances.
    static constexpr std::size_t kMostRuns = 4;
    enum class Tag : std::uint8_t { kTold, kDisturbed, kPace, kFlow, kSample };
    void on_event(std::uint64_t tag) override;
    void on_memory_left() override;
    /// How one passes that does as an example, and whose key that has.
    struct Found {
        CollectiveKey key;
        RecordedCollective run;
        std::vector<double> since{};  ///< as Passing::since
    };
    [[nodiscard]] std::optional<Found> find(
        const CollectiveKey& key, const RecordedCollective::Joining& joining,
        const MemberListener& of);
    [[nodiscard]] CollectiveExample& example(const CollectiveKey& key) {
        return past_.try_emplace(key, beside_kernels_ ? kMostRuns : 1).first->second;
    }
    /// What is left to be counted of a share of the traffic of what passes.
    [[nodiscard]] std::vector<double> uncounted(double share) const;
    /// The number of what an event of this kind belongs to.
    [[nodiscard]] std::uint64_t of(Tag tag) const {
        switch (tag) {
        case Tag::kTold:
            return told_;
        case Tag::kFlow:
            return flows_;
        case Tag::kSample:
            return sampled_;
        default:
            return generation_;
        }
    }
    void post(Tag tag, Time at);
    void post_next();
    void tell();
    void give_way();
    /// Goes on at the pace beside what kernels draw now.
    void change_pace();
    /// How long it went at a guessed pace is up to date.
    void count_guessed();
    /// The memories of members that move data move as much now as they did, if kernels run.
    void stream();
    void stop_streams();
    void record(
        CollectiveKey key, const RecordedCollective::Joining& joining, Time begins,
        const MemberListener& of);
    /// Hears of what kernels draw from these; of nothing if there are none.
    void listen(const Ports& ports);

    Scheduler& scheduler_;
    PartCounts counts_;
    bool beside_kernels_;  ///< else these disturb it
    std::map<CollectiveKey, CollectiveExample> past_;
    std::map<CollectiveKey, JoinedApart> apart_;  ///< by key with nobody late
    /// Undisturbed collectives that are no examples yet, because recalled ones were disturbed.
    struct Caution {
        std::uint32_t left = 0;
        std::uint32_t next = 0;  ///< after the next such disturbance
    };
    std::map<CollectiveKey, Caution> caution_;
    std::map<const MemberListener*, CollectiveRecording> recordings_;
    const MemberListener* watched_ = nullptr;  ///< the recording that anything would spoil now
    std::optional<Prelude> prelude_;
    std::optional<Passing> passing_;
    bool may_be_disturbed_ = false;  ///< none of its members is done
    bool telling_ = false;           ///< calls its members now
    std::uint64_t generation_ = 0;   ///< of passing_, so that events of earlier ones are ignored
    std::uint64_t told_ = 0;         ///< the same for what members are told
    std::uint64_t flows_ = 0;        ///< the same for what their memories move
    std::uint64_t sampled_ = 0;      ///< the same for recordings
    Ports ports_;                    ///< of what is recorded or passes
    Time recalled_;
};

}  // namespace switchfold
