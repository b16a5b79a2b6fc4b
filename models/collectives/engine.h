// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/world_clock.h"
#include "models/collectives/choice/call_group.h"
#include "models/collectives/choice/machine_view.h"
#include "models/collectives/choice/policies.h"
#include "models/collectives/choice/tuning.h"
#include "models/collectives/collective_service.h"
#include "models/collectives/functional.h"
#include "models/collectives/running_collective.h"
#include "models/collectives/shortcuts/collective_memos.h"
#include "models/collectives/shortcuts/fast_forward.h"
#include "models/collectives/shortcuts/message_memo.h"
#include "models/probe.h"

#include <systemc>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// Record of a finished collective, for the report.
struct CollectiveRecord {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    std::uint32_t group = 0;
    std::uint64_t sequence = 0;
    std::uint32_t ranks = 0;
    Bytes bytes;                 ///< of unequal parts: the most that a rank sends
    Bytes footprint;             ///< of its buffers on a rank
    std::uint32_t exchange = 0;  ///< as CollectiveOperation::exchange
    bool as_traced = false;      ///< took the time that it is given, and moved nothing
    CollectiveConfig choice;
    Time ready;                         ///< arrival of the last rank
    Time stalled;                       ///< exchange with a late rank: when all other work was done
    Time start;                         ///< launch of the first rank's kernel
    Time end;                           ///< end of the last rank's kernel
    std::uint32_t first_operation = 0;  ///< operation index of the first rank to arrive
    std::uint32_t sender = 0;           ///< of a transfer between two ranks, which has no group
    std::uint32_t receiver = 0;
    std::uint64_t tag = 0;  ///< of the transfer; its sequence counts those of this tag
    Fallback fallback = Fallback::kNone;
};

/// Runs a machine's collectives: matches the ranks' parts by (group, sequence), chooses algorithm
/// and protocol, places the communication kernels, and moves the data. A member's kernel holds its
/// slots from when it is resident until its part is done, even while it waits for a late peer.
class CollectiveEngine final : public sc_core::sc_module,
                               public CollectiveService,
                               private FabricListener,
                               private EventHandler {
public:
    CollectiveEngine(
        const sc_core::sc_module_name& name, Fabric& fabric, const CollectiveParams& params,
        const CollectivePolicies& policies, std::vector<RankPort*> ports, std::vector<Group> groups,
        std::uint64_t functional_seed = 0);
    /// Enables skipping repetitions in long collectives, except in functional mode; `counts`
    /// includes the skipped parts. Links with bit errors never repeat exactly. `recall`: whether a
    /// collective may also be taken to move as an earlier one like it did; never where links
    /// change. `loosely`: repetitions need be alike only to a percent.
    void allow_shortcuts(TrafficCounts& counts, Recall recall, bool loosely = false);
    /// Messages may pass as earlier ones did: little else moves over links.
    void remember_messages(TrafficCounts& counts);
    /// The probe hears of collectives and of host copies. It must outlive the engine's runs.
    void attach(Probe& probe) { probes_.push_back(&probe); }
    ~CollectiveEngine() override;
    CollectiveEngine(const CollectiveEngine&) = delete;
    CollectiveEngine& operator=(const CollectiveEngine&) = delete;
    CollectiveEngine(CollectiveEngine&&) = delete;
    CollectiveEngine& operator=(CollectiveEngine&&) = delete;

    /// Sets the exchanges of mixture-of-experts layers, to which operations refer. A GPU has `sms`
    /// SMs.
    void set_experts(std::vector<ExpertExchange> experts, std::uint32_t sms) {
        experts_ = std::move(experts);
        sms_ = sms;
    }
    /// Sets the exchanges of unequal parts, to which operations refer.
    void set_exchanges(std::vector<UnevenExchange> exchanges) { exchanges_ = std::move(exchanges); }
    /// Sets the generation of each rank's GPU, as arbitrary numbers: NCCL uses LL128 only among
    /// GPUs of one generation.
    void set_generations(std::vector<std::uint32_t> by_rank) { generations_ = std::move(by_rank); }
    /// From now on untraced ranks are never late, whatever the operations say.
    void ignore_late_peers() { ignores_late_peers_ = true; }
    void start(
        std::uint32_t rank, std::uint32_t operation, const CollectiveOperation& collective,
        std::int32_t priority, CollectiveListener& listener) override;
    void start_transfer(
        std::uint32_t rank, std::uint32_t operation, const TransferEnd& end, std::int32_t priority,
        CollectiveListener& listener) override;

    [[nodiscard]] const std::vector<CollectiveRecord>& records() const { return records_; }
    /// Descriptions of what unfinished collectives wait for.
    [[nodiscard]] std::vector<std::string> blocked() const;
    /// Functional mode: collectives whose result differs from the reference or between ranks.
    [[nodiscard]] const std::vector<std::string>& wrong_results() const { return wrong_; }
    /// Notes on collectives that did not run as requested.
    [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
    /// Simulated time skipped by collectives.
    [[nodiscard]] Time jumped() const;
    /// Of it, the part that FastForward::at_mean_pace() is.
    [[nodiscard]] Time at_mean_pace() const {
        return fast_forward_ ? fast_forward_->at_mean_pace() : Time();
    }
    /// Payload, over all members, that travelled in packets of several rounds.
    [[nodiscard]] Bytes coarse() const { return coarse_; }
    /// What has been done of the collectives under way: the sum of each one's share times its
    /// members.
    [[nodiscard]] double half_done() const;
    /// Configuration of an all-reduce of this size over these ranks.
    [[nodiscard]] CollectiveConfig choose(
        const std::vector<std::uint32_t>& ranks, Bytes bytes,
        Datatype datatype = Datatype::kFloat32);

private:
    class Instance;
    /// Identifies active collectives and transfers: group and sequence, or the two ranks, the tag,
    /// and the number of earlier transfers with this tag.
    using Key = std::array<std::uint64_t, 4>;
    struct Arrival {
        std::uint32_t rank;
        std::uint32_t operation;
        std::int32_t priority;
        CollectiveListener* listener;
    };
    void arrive(Instance& instance, const Arrival& arrival);
    CollectiveSpec specify(const TransferEnd& end);
    /// Applies the scenario's limit on thread blocks.
    [[nodiscard]] CollectiveSpec limit(CollectiveSpec spec) const;
    void on_event(std::uint64_t tag) override;
    void on_link_down(const Link& there, const Link& back) override;
    void on_host_copy() override {
        for (Probe* probe : probes_)
            probe->on_host_copy(clock_.now());
    }
    void tell_of_begin(const CollectiveSeen& collective) {
        for (Probe* probe : probes_)
            probe->on_collective_begin(collective, clock_.now());
    }
    std::unique_ptr<RunningCollective> make_running(Instance& instance);
    /// It gives up, and is kept while anything of it may be under way.
    void retire(std::unique_ptr<RunningCollective> running);
    [[nodiscard]] CollectiveEnvironment environment() const;
    [[nodiscard]] std::vector<RankPort*> ports_of(const CollectiveSpec& spec) const;
    /// Watches the collectives under way, unless they are watched already, if all have their
    /// members and they differ in their ranks alone.
    void watch();
    /// How alike the turns of such a collective will be. Trees between NICs that each serve one GPU
    /// wander; where several serve a GPU, links inside machines are the limit, and the pace changes
    /// for good after hundreds of turns.
    [[nodiscard]] Motion motion_of(const CollectiveSpec& spec);
    void note_quantised(const Instance& instance, const std::vector<std::vector<float>>& after);
    /// So many collectives are under way with all their members, all are simulated, and no host
    /// copy is.
    [[nodiscard]] bool undisturbed(std::size_t collectives) const;
    CollectiveConfig ring_choice(const CollectiveSpec& spec, std::uint32_t channels);
    /// It becomes a ring, and whoever has joined begins anew.
    void run_as_ring(Instance& instance, Fallback why, const std::string& text);
    void make_ring(Instance& instance, Fallback why, const std::string& text);
    /// A future event of a member.
    struct MemberEvent {
        enum class Kind : std::uint8_t { kResident, kPeersCome, kBegin, kBlocksLeave, kEnd };
        Kind kind;
        Instance* instance;
        std::uint32_t position;
        std::uint32_t blocks = 0;  ///< blocks that remain
    };
    void post(const MemberEvent& event, Time at);
    void end_member(Instance& instance, std::uint32_t position);
    void finish(Instance& instance);
    CollectiveSpec specify(const CollectiveOperation& collective);
    /// Sets library, blocks and kernel of a dispatch or combine.
    void specify_experts(const CollectiveOperation& collective, CollectiveSpec& spec) const;
    /// The same for NCCL's sends and receives: an all-to-all of rows.
    void specify_sent_rows(const CollectiveOperation& collective, CollectiveSpec& spec);
    /// Sets messages, blocks and bytes of an exchange of these parts.
    void specify_parts(
        const UnevenExchange& parts, const CollectivePolicy& policy, const MachineView& machine,
        CollectiveSpec& spec) const;
    /// Algorithm, blocks and layout of an all-to-all, gather, scatter, or sends in a ring.
    void specify_exchange(
        const CollectiveOperation& collective, CollectivePolicy policy, const CallGroup& group,
        CollectiveSpec& spec);
    /// The parts that it exchanges. Throws SimulationError if they are not its group's.
    [[nodiscard]] const UnevenExchange& exchange_of(const CollectiveOperation& collective) const;
    /// What a rank sends; of parts that differ, the most that one of them does.
    [[nodiscard]] Bytes most_sent(const CollectiveOperation& collective) const;
    /// Takes time, blocks and their resources from the trace.
    void specify_as_traced(const CollectiveOperation& collective, CollectiveSpec& spec) const;
    /// The kind's policy; if its library refuses the call and the kind has no policy of its own,
    /// what the library has instead.
    [[nodiscard]] CollectivePolicy
    able_policy(const CollectiveCall& call, const CallGroup& group) const;
    /// Whether an all-reduce that the switches cannot run any more, since a link is down, runs as a
    /// ring; a note says so.
    [[nodiscard]] bool ring_for_downed_link(const CollectiveCall& call, const CallGroup& group);
    /// Takes blocks and their resources from the trace if it shows the same kind of kernel; a note
    /// counts the others.
    void take_traced_kernel(const CollectiveOperation& collective, CollectiveSpec& spec);
    void note_other_kernel(const CollectiveOperation& collective, const CollectiveConfig& choice);
    const GroupView& view(const std::vector<std::uint32_t>& ranks);
    /// Trees for ranks with a known view; computed once.
    const std::vector<ReduceTree>&
    reduce_trees(const std::vector<std::uint32_t>& ranks, std::uint32_t count);

    Fabric& fabric_;
    WorldClock clock_;
    CollectiveParams params_;
    CollectivePolicies policies_;
    std::vector<RankPort*> ports_;
    std::vector<Group> groups_;
    std::vector<ExpertExchange> experts_;
    std::vector<UnevenExchange> exchanges_;
    /// Of exchanges of experts by NCCL, by index and kind.
    std::map<std::pair<std::uint32_t, CollectiveKind>, UnevenExchange> sent_rows_;
    std::uint32_t sms_ = 1;
    std::vector<std::uint32_t> generations_;  ///< by rank; empty: all equal
    std::uint64_t functional_seed_;
    bool ignores_late_peers_ = false;
    std::map<Key, std::unique_ptr<Instance>> running_;
    std::vector<std::unique_ptr<Instance>> lingering_;  ///< ended, but with pending events
    /// Number of transfers begun by sender, receiver, tag and end.
    std::map<Key, std::uint64_t> transfers_;
    std::vector<MemberEvent> events_;  ///< by event tag
    std::vector<std::uint32_t> free_events_;
    std::map<std::vector<std::uint32_t>, std::unique_ptr<GroupView>> views_;
    std::vector<CollectiveRecord> records_;
    std::vector<std::string> wrong_;
    std::vector<std::string> notes_;
    QuantisedError quantised_;        ///< functional mode, over all such collectives
    std::size_t quantised_note_ = 0;  ///< index of the note that tells of it, plus one
    struct OtherKernel {
        std::uint64_t count = 0;  ///< of collectives
        std::size_t note = 0;     ///< index of the note that tells of them
    };
    /// By what the trace ran, and what runs here.
    std::map<std::pair<std::string, std::string>, OtherKernel> other_kernels_;
    std::optional<bool> one_nic_each_;  ///< once somebody has asked
    Bytes coarse_;
    std::vector<Probe*> probes_;                 ///< fast_forward_ and memos_ first
    std::unique_ptr<FastForward> fast_forward_;  ///< null: nothing is skipped
    std::unique_ptr<CollectiveMemos> memos_;     ///< null: every collective moves its data itself
    std::unique_ptr<MessageMemo> messages_;      ///< null: every message moves its data itself
    struct Retired {
        std::unique_ptr<RunningCollective> running;
        Time since;
    };
    std::vector<Retired> retired_;  ///< gave up; packets may still arrive
};

}  // namespace switchfold
