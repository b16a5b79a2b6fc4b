// SPDX-License-Identifier: Apache-2.0
#include "core/first_ranks.h"
#include "core/gibibytes.h"
#include "core/physical_memory.h"
#include "models/collectives/choice/group_layout.h"
#include "models/collectives/choice/named_policies.h"
#include "models/collectives/experts/choice.h"
#include "models/collectives/library.h"
#include "sim/config/block_checks.h"
#include "sim/workload/workload_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace switchfold {

namespace {

class ScenarioChecks {
public:
    ScenarioChecks(const WorkloadContext& context, PreparedWorkload& out) :
        context_(context), out_(out) {}

    void run() {
        if (context_.experiment().functional)
            check_numbers();
        const auto& scenarios = context_.scenarios();
        const Collectives collectives = collectives_by_kind();
        const Topology topology = build_topology(context_.system().topology);
        if (context_.default_scenarios()) {
            leave_out(collectives, topology);
            return;
        }
        for (const std::size_t i : context_.variant_scenarios()) {
            check_experts(i);
            for (const auto& [kind, over] : collectives) {
                if (kind != CollectiveKind::kAllReduce && !scenarios[i].collectives.named(kind))
                    continue;  // follows all-reduces as far as possible
                const CollectivePolicy policy = scenarios[i].policies().of(kind);
                const Refusal refusal = refused(policy, kind, over, topology);
                if (!refusal) {
                    check_channels(i, kind, policy);
                    continue;
                }
                const bool shorthand = !scenarios[i].collectives.named(kind);
                context_.fail(
                    fmt::format(
                        "/scenarios/{}/{}{}/{}", i, shorthand ? "" : "collectives/",
                        to_string(kind), refusal.field),
                    fmt::format(
                        "is {}, which {} cannot do: {}; expected {}", refusal.value,
                        context_.system().name, refusal.why, refusal.expected));
            }
        }
    }

private:
    /// Every member keeps at least what it brings and what it gets, in 32 bits each. Exchanges of
    /// experts and what passes as traced keep less.
    void check_numbers() const {
        double most = 0;
        for_each_collective([&](const CollectiveOperation& part, const GroupPlace& place) {
            if (part.given > Time() || is_experts(part.kind))
                return;
            const double elements = static_cast<double>(part.bytes.count()) /
                                    static_cast<double>(size_of(part.datatype).count());
            most = std::max(most, elements * static_cast<double>(ranks_of(place).size()));
        });
        constexpr double kBytes = 2 * sizeof(float);
        const auto memory = static_cast<double>(physical_memory());
        if (most * kBytes > memory)
            context_.fail(
                "/functional",
                fmt::format(
                    "keeps the numbers of all ranks, {:.1f} GiB for one collective, and this "
                    "machine has {:.1f} GiB; expected smaller collectives or fewer ranks, or false",
                    in_gibibytes(most * kBytes), in_gibibytes(memory)));
    }

    /// The workload's graph, or that of what probes of a folded one measure; and a group of it.
    using GroupPlace = std::pair<bool, std::uint32_t>;
    [[nodiscard]] const ExecutionGraph& graph_of(bool probe) const {
        return probe ? out_.folded->probe() : out_.graph;
    }
    [[nodiscard]] const std::vector<std::uint32_t>& ranks_of(const GroupPlace& place) const {
        return graph_of(place.first).groups[place.second].ranks;
    }

    /// Calls visit(collective, place of its group) for each that is simulated. Those of a folded
    /// workload that have a time are in its probe.
    template <class Visit>
    void for_each_collective(Visit&& visit) const {
        const bool folded = out_.folded != nullptr;
        for (const bool probe : {false, true}) {
            if (probe && !folded)
                continue;
            const RankGraph* last = nullptr;
            for (const auto& rank : graph_of(probe).ranks) {
                if (rank.get() == std::exchange(last, rank.get()))
                    continue;  // ranks that share a graph
                for (const Operation& operation : rank->operations)
                    if (const auto* c = std::get_if<CollectiveOperation>(&operation.body);
                        c != nullptr && (!folded || c->given == Time()))
                        visit(*c, GroupPlace(probe, c->group));
            }
        }
    }

    /// Groups and data types of the collectives of one kind.
    using Over = std::set<std::pair<GroupPlace, Datatype>>;
    using Collectives = std::map<CollectiveKind, Over>;

    /// Leaves out default scenarios that the machine cannot run. Where algorithms for several
    /// machines can, they replace in_switch; where none can, a note says why.
    void leave_out(const Collectives& collectives, const Topology& topology) {
        std::map<Algorithm, std::string> reasons;
        bool across = false;
        for (const ScenarioParams& scenario : context_.scenarios()) {
            const CollectivePolicy& policy = scenario.all_reduce;
            if (!asks_for_switches(policy))
                continue;
            const std::string reason = why_not_default(policy, collectives, topology);
            reasons[policy.algorithm] = reason;
            across = across || (asks_for_switches_across(policy) && reason.empty());
        }
        for (const std::size_t i : context_.variant_scenarios()) {
            const ScenarioParams& scenario = context_.scenarios()[i];
            const bool inside = !asks_for_switches_across(scenario.all_reduce);
            const auto reason = reasons.find(scenario.all_reduce.algorithm);
            if (reason == reasons.end() || (reason->second.empty() && !(inside && across)))
                continue;
            out_.left_out.insert(scenario.name);
            if (inside && !across)
                out_.report.notes.push_back(fmt::format(
                    "{} was left out: {} cannot do it: {}", scenario.name, context_.system().name,
                    reason->second));
        }
    }

    [[nodiscard]] std::string why_not_default(
        const CollectivePolicy& policy, const Collectives& collectives,
        const Topology& topology) const {
        const auto reduced = collectives.find(CollectiveKind::kAllReduce);
        if (reduced != collectives.end())
            return refused(policy, reduced->first, reduced->second, topology).why;
        if (asks_for_switches_across(policy))
            return "the workload has no all-reduces";
        if (collectives.empty() && context_.experiment().run) {
            // One member alone, until others come.
            std::vector<std::uint32_t> all = first_ranks(topology.gpus());
            return refused(policy, {CollectiveKind::kAllReduce, Bytes(0)}, topology, all).why;
        }
        std::string reason;
        for (const CollectiveKind kind :
             {CollectiveKind::kReduceScatter, CollectiveKind::kAllGather}) {
            const auto found = collectives.find(kind);
            if (found == collectives.end())
                continue;
            for (const auto& [group, datatype] : found->second) {
                const auto& ranks = ranks_of(group);
                std::string why = refused(policy, {kind, Bytes(0), datatype}, topology, ranks).why;
                if (why.empty() && lay_out(topology, ranks).machines.size() == 1)
                    return {};  // the others take rings
                if (why.empty())
                    why = fmt::format(
                        "the {}s of several machines would put each GPU's whole buffer through the "
                        "network",
                        to_string(kind));
                if (reason.empty())
                    reason = std::move(why);
            }
        }
        return reason;
    }

    void check_channels(
        std::size_t scenario, CollectiveKind kind, const CollectivePolicy& policy) const {
        const SystemParams& system = context_.system();
        const std::uint32_t most = most_blocks(system, policy);
        if (policy.channels > most)
            context_.fail(
                fmt::format(
                    "/scenarios/{}/{}{}/channels", scenario,
                    context_.scenarios()[scenario].collectives.named(kind) ? "collectives/" : "",
                    to_string(kind)),
                fmt::format(
                    "is {}, and a GPU of {} holds {} such thread blocks at the same time; "
                    "expected at most those",
                    policy.channels, system.name, most));
    }

    /// Exchanges of experts need several thread blocks at the same time.
    void check_experts(std::size_t index) const {
        const ScenarioParams& scenario = context_.scenarios()[index];
        const CollectivePolicies policies = scenario.policies();
        if (policies.most_blocks == 0)
            return;
        const CommunicationLibrary& library = library_for(CollectiveKind::kMoeDispatch, {});
        for (const ExpertExchange& exchange : out_.graph.experts) {
            const ExpertsCall experts{exchange, policies.experts, {}};
            CollectiveCall call{CollectiveKind::kMoeDispatch, Bytes(0)};
            call.experts = &experts;
            const std::uint32_t least = library.fewest_blocks(call);
            if (policies.most_blocks < least)
                context_.fail(
                    fmt::format(
                        "/scenarios/{}/{}", index,
                        scenario.max_ctas == policies.most_blocks ? "max_ctas"
                                                                  : "communication_sms"),
                    fmt::format(
                        "is {}, and an exchange of {} experts by {} takes {} thread blocks; "
                        "expected at least those",
                        policies.most_blocks, exchange.experts,
                        enum_name(library_of(policies.experts)), least));
        }
    }

    [[nodiscard]] Collectives collectives_by_kind() const {
        Collectives found;
        for_each_collective([&](const CollectiveOperation& c, const GroupPlace& group) {
            if (ranks_of(group).size() > 1)
                found[c.kind].emplace(group, c.datatype);
        });
        return found;
    }

    /// What the policy's library says of a call on the system.
    [[nodiscard]] Refusal refused(
        const CollectivePolicy& policy, const CollectiveCall& call, const Topology& topology,
        const std::vector<std::uint32_t>& ranks) const {
        const CollectiveParams& params = *context_.system().collectives;
        return library_for(call.kind, policy)
            .refuses(params, policy, call, CallGroup(topology, ranks, params.transfer_unit));
    }

    /// The same of all the workload's collectives of a kind.
    [[nodiscard]] Refusal refused(
        const CollectivePolicy& policy, CollectiveKind kind, const Over& over,
        const Topology& topology) const {
        const bool even = kind != CollectiveKind::kAllToAll || out_.graph.exchanges.empty();
        for (const auto& [group, datatype] : over)
            if (Refusal refusal =
                    refused(policy, {kind, Bytes(0), datatype, even}, topology, ranks_of(group)))
                return refusal;
        return {};
    }

    const WorkloadContext& context_;
    PreparedWorkload& out_;
};

}  // namespace

void check_scenarios(const WorkloadContext& context, PreparedWorkload& workload) {
    ScenarioChecks(context, workload).run();
}

}  // namespace switchfold
