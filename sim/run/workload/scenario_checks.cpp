// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/group_layout.h"
#include "models/collectives/choice/kernels.h"
#include "models/collectives/choice/machine_view.h"
#include "models/collectives/experts/choice.h"
#include "sim/run/config/block_checks.h"
#include "sim/run/workload/read_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

class ScenarioChecks {
public:
    ScenarioChecks(const WorkloadContext& context, PreparedWorkload& out) :
        context_(context), out_(out) {}

    void run() {
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
                const bool all_reduce = kind == CollectiveKind::kAllReduce;
                if (!all_reduce && !scenarios[i].collectives.named(kind))
                    continue;  // follows all-reduces as far as possible
                const CollectivePolicy policy = scenarios[i].policies().of(kind);
                const bool classic = policy.kernels == Kernels::kClassic;
                std::string reason = classic ? why_not_all(policy.algorithm, kind, over, topology)
                                             : why_not_all(policy, kind, over, topology);
                if (reason.empty() && kind == CollectiveKind::kAllToAll &&
                    !out_.graph.exchanges.empty())
                    reason = why_not_uneven(policy.kernels);
                if (reason.empty()) {
                    check_channels(i, kind, policy);
                    continue;
                }
                const bool shorthand = !scenarios[i].collectives.named(kind);
                context_.fail(
                    fmt::format(
                        "/scenarios/{}/{}{}/{}",
                        i,
                        shorthand ? "" : "collectives/",
                        to_string(kind),
                        classic ? "algorithm" : "kernels"),
                    fmt::format(
                        "is {}, which {} cannot do: {}; expected {}",
                        classic ? enum_name(policy.algorithm) : enum_name(policy.kernels),
                        context_.system().name,
                        reason,
                        !classic     ? "classic"
                        : all_reduce ? "ring, tree or auto"
                                     : "ring or auto"));
            }
        }
    }

private:
    /// Groups and data types of the collectives of one kind.
    using Over = std::set<std::pair<std::uint32_t, Datatype>>;
    using Collectives = std::map<CollectiveKind, Over>;

    /// Leaves out default scenarios that the machine cannot run. Where algorithms for several
    /// machines can, they replace in_switch; where none can, a note says why.
    void leave_out(const Collectives& collectives, const Topology& topology) {
        std::map<Algorithm, std::string> reasons;
        bool across = false;
        for (const ScenarioParams& scenario : context_.scenarios()) {
            const Algorithm algorithm = scenario.all_reduce.algorithm;
            if (!reduces_in_switch(algorithm))
                continue;
            const std::string reason = why_not_default(algorithm, collectives, topology);
            reasons[algorithm] = reason;
            across = across || (algorithm != Algorithm::kInSwitch && reason.empty());
        }
        for (const std::size_t i : context_.variant_scenarios()) {
            const ScenarioParams& scenario = context_.scenarios()[i];
            const bool in_switch = scenario.all_reduce.algorithm == Algorithm::kInSwitch;
            const auto reason = reasons.find(scenario.all_reduce.algorithm);
            if (reason == reasons.end() || (reason->second.empty() && !(in_switch && across)))
                continue;
            out_.left_out.insert(scenario.name);
            if (in_switch && !across)
                out_.report.notes.push_back(fmt::format(
                    "{} was left out: {} cannot do it: {}",
                    scenario.name,
                    context_.system().name,
                    reason->second));
        }
    }

    [[nodiscard]] std::string why_not_default(
        Algorithm algorithm, const Collectives& collectives, const Topology& topology) const {
        const auto reduced = collectives.find(CollectiveKind::kAllReduce);
        if (reduced != collectives.end())
            return why_not_all(algorithm, reduced->first, reduced->second, topology);
        if (algorithm != Algorithm::kInSwitch)
            return "the workload has no all-reduces";
        if (collectives.empty() && context_.experiment().run) {
            // One member alone, until others come.
            std::vector<std::uint32_t> all(topology.gpus());
            std::iota(all.begin(), all.end(), 0U);
            return why_not(
                algorithm, CollectiveKind::kAllReduce, Datatype::kFloat32, topology, all);
        }
        std::string reason;
        for (const CollectiveKind kind :
             {CollectiveKind::kReduceScatter, CollectiveKind::kAllGather}) {
            const auto found = collectives.find(kind);
            if (found == collectives.end())
                continue;
            for (const auto& [group, datatype] : found->second) {
                const auto& ranks = out_.graph.groups[group].ranks;
                std::string why = why_not(algorithm, kind, datatype, topology, ranks);
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
        if (policy.kernels != Kernels::kClassic || moves_by_copies(policy.algorithm))
            return;
        const SystemParams& system = context_.system();
        const std::uint32_t most = most_blocks(system, policy);
        if (policy.channels > most)
            context_.fail(
                fmt::format(
                    "/scenarios/{}/{}{}/channels",
                    scenario,
                    context_.scenarios()[scenario].collectives.named(kind) ? "collectives/" : "",
                    to_string(kind)),
                fmt::format(
                    "is {}, and a GPU of {} holds {} such thread blocks at the same time; "
                    "expected at most those",
                    policy.channels,
                    system.name,
                    most));
    }

    /// Exchanges of experts need several thread blocks at the same time.
    void check_experts(std::size_t index) const {
        const ScenarioParams& scenario = context_.scenarios()[index];
        const CollectivePolicies policies = scenario.policies();
        if (policies.most_blocks == 0)
            return;
        for (const ExpertExchange& exchange : out_.graph.experts) {
            const std::uint32_t least = least_blocks(policies.experts, exchange);
            if (policies.most_blocks < least)
                context_.fail(
                    fmt::format(
                        "/scenarios/{}/{}",
                        index,
                        scenario.max_ctas == policies.most_blocks ? "max_ctas"
                                                                  : "communication_sms"),
                    fmt::format(
                        "is {}, and an exchange of {} experts by {} takes {} thread blocks; "
                        "expected at least those",
                        policies.most_blocks,
                        exchange.experts,
                        enum_name(library_of(policies.experts)),
                        least));
        }
    }

    [[nodiscard]] Collectives collectives_by_kind() const {
        Collectives found;
        const RankGraph* last = nullptr;
        for (const auto& rank : out_.graph.ranks) {
            if (rank.get() == last)
                continue;  // ranks that share a graph
            last = rank.get();
            for (const Operation& operation : rank->operations) {
                const auto* c = std::get_if<CollectiveOperation>(&operation.body);
                if (c != nullptr && out_.graph.groups[c->group].ranks.size() > 1)
                    found[c->kind].emplace(c->group, c->datatype);
            }
        }
        return found;
    }

    /// Why the machine cannot run the workload's collectives of this kind with the algorithm; empty
    /// if it can.
    [[nodiscard]] std::string why_not_all(
        Algorithm algorithm,
        CollectiveKind kind,
        const Over& over,
        const Topology& topology) const {
        for (const auto& [group, datatype] : over) {
            std::string reason =
                why_not(algorithm, kind, datatype, topology, out_.graph.groups[group].ranks);
            if (!reason.empty())
                return reason;
        }
        return {};
    }

    /// The same for the policy's kernels.
    [[nodiscard]] std::string why_not_all(
        const CollectivePolicy& policy,
        CollectiveKind kind,
        const Over& over,
        const Topology& topology) const {
        const CollectiveParams& params = *context_.system().collectives;
        for (const auto& [group, datatype] : over) {
            const GroupView view =
                view_group(topology, params.transfer_unit, out_.graph.groups[group].ranks);
            std::string reason =
                why_not_kernels(params, policy, view.machine, {kind, Bytes(0), datatype});
            if (!reason.empty())
                return reason;
        }
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
