// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/library.h"

#include "core/error.h"
#include "models/collectives/choice/exchange.h"
#include "models/collectives/choice/policy_checks.h"
#include "models/collectives/experts/choice.h"
#include "models/collectives/in_switch/switch_mode.h"
#include "models/collectives/libraries.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace switchfold {

namespace {

constexpr std::array kProtocols{Protocol::kLl, Protocol::kLl128, Protocol::kSimple};

/// \pre 0 <= share <= 1
Time portion(Time whole, double share) {
    return Time(static_cast<std::uint64_t>(static_cast<double>(whole.count()) * share));
}

bool halves(CollectiveKind kind) {
    return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter ||
           kind == CollectiveKind::kAllGather;
}

bool each_kind(CollectiveKind kind) {
    return !is_exchange(kind) && !is_experts(kind);
}

bool all_reduce(CollectiveKind kind) {
    return kind == CollectiveKind::kAllReduce;
}

/// An all-reduce inside one domain has its own pipeline, depending on the mode; other collectives
/// run over heads.
std::unique_ptr<RunningCollective> make_in_switch(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::string& refused) {
    if (!all_reduce(spec.kind)) {
        CollectiveSpec inside = spec;
        inside.layout = one_domain(spec.size());
        return make_heads_collective(environment, inside, listener, refused);
    }
    return mode_of(spec.choice.of<NcclConfig>()).make(environment, spec, listener, refused);
}

/// One entry per algorithm.
struct Entry {
    Algorithm algorithm;
    bool (*knows)(CollectiveKind);
    MakeCollective* make;
    /// Null: a network's switches may reduce anywhere.
    MemberPairs (*pairs)(const CollectiveSpec&);
    bool ends_together;
};
constexpr std::array kEntries{
    Entry{Algorithm::kRing, each_kind, make_fifo_collective, ring_neighbours, true},
    Entry{Algorithm::kTree, all_reduce, make_fifo_collective, tree_neighbours, false},
    Entry{Algorithm::kInSwitch, halves, make_in_switch, all_pairs, true},
    Entry{Algorithm::kInSwitchTree, all_reduce, make_heads_collective, all_pairs, false},
    Entry{Algorithm::kInSwitchRing, all_reduce, make_heads_collective, all_pairs, false},
    Entry{Algorithm::kCollnet, all_reduce, make_heads_collective, nullptr, false}};

const Entry& entry_of(Algorithm algorithm) {
    const auto* const at = std::find_if(
        kEntries.begin(), kEntries.end(), [&](const Entry& e) { return e.algorithm == algorithm; });
    SWITCHFOLD_CHECK(at != kEntries.end(), "NCCL has no {}", enum_name(algorithm));
    return *at;
}

/// 8-bit sums of this call, if they are asked for.
Refusal refuses_narrow(
    const CollectivePolicy& policy, const CollectiveCall& call, const Topology& topology) {
    if (!all_reduce(call.kind) || !policy.quantised.used())
        return {};
    const auto format = narrowed(call.datatype, policy.quantised);
    if (!format)
        return {
            fmt::format(
                "{} has no 8-bit sums; expected float32, float16 or bfloat16",
                to_string(call.datatype)),
            "quantised/at", enum_name(policy.quantised.at), "nowhere"};
    for (const SwitchParams& node : topology.switches)
        if (node.reduction)
            if (std::string why = node.reduction->why_not(*format); !why.empty())
                return {
                    fmt::format("a reduction unit {}", why), "quantised/format",
                    enum_name(policy.quantised.format),
                    "a format and a block that the switches' units take"};
    return {};
}

/// A program's own mode where it cannot run the call.
Refusal
refuses_mode(const CollectivePolicy& policy, const CollectiveCall& call, const CallGroup& group) {
    if (!policy.own_mode || !all_reduce(call.kind))
        return {};
    if (policy.algorithm != Algorithm::kInSwitch)
        return {
            "a mode of a program's own is one of in_switch", "algorithm",
            enum_name(policy.algorithm), "in_switch"};
    return {
        policy.own_mode->why_not(call, group.topology(), group.ranks()), "mode",
        policy.own_mode->name(), "a call and a machine that the mode's program takes"};
}

class NcclLibrary final : public CommunicationLibrary {
public:
    [[nodiscard]] bool serves(CollectiveKind kind, const CollectivePolicy& policy) const override {
        return policy.kernels == Kernels::kClassic && !moves_by_copies(policy.algorithm) &&
               policy.algorithm != Algorithm::kProgram && !is_experts(kind);
    }
    [[nodiscard]] bool made(const CollectiveConfig& choice) const override {
        return choice.is<NcclConfig>();
    }

    [[nodiscard]] std::vector<Algorithm> algorithms(CollectiveKind kind) const override {
        std::vector<Algorithm> found;
        for (const Entry& entry : kEntries)
            if (entry.knows(kind))
                found.push_back(entry.algorithm);
        return found;
    }
    void check(
        CollectiveKind kind, const CollectivePolicy& policy, ParamChecker& checker) const override {
        const PolicyChecks at(kind, policy, checker);
        if (is_exchange(kind) && policy.protocol == Protocol::kLl128)
            at.error(
                "protocol",
                "is ll128, which sends and receives do not support; expected auto, ll or simple");
        at.expect_no_copies();
        at.expect_switches_where_registered();
    }
    [[nodiscard]] std::vector<ResidentShape>
    kernels(const CollectiveParams& params, const CollectivePolicy& policy) const override {
        std::vector<ResidentShape> found;
        const bool any = policy.algorithm == Algorithm::kAuto;
        for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kInSwitch})
            for (const Protocol protocol : kProtocols) {
                if (!any && reduces_in_switch(policy.algorithm) != reduces_in_switch(algorithm))
                    continue;
                if (policy.protocol != Protocol::kAuto && policy.protocol != protocol)
                    continue;
                CollectiveConfig choice;
                choice.algorithm = algorithm;
                choice.protocol = protocol;
                found.push_back(kernel(params, choice));
            }
        return found;
    }
    [[nodiscard]] StatedKernels stated(const CollectiveParams& params) const override {
        const auto of = [&](std::uint32_t threads) {
            return ResidentShape{
                threads, params.registers_per_thread, params.shared_memory, Time(), Time()};
        };
        return {
            "/collectives",
            {{"LL", "ll/threads", of(params.ll.threads)},
             {"LL128", "ll128/threads", of(params.ll128.threads)},
             {"Simple", "simple/threads", of(params.simple.threads)},
             {"in-switch", "in_switch_threads", of(params.in_switch_threads)}}};
    }

    [[nodiscard]] Refusal refuses(
        const CollectiveParams& /*params*/, const CollectivePolicy& policy,
        const CollectiveCall& call, const CallGroup& group) const override {
        const Algorithm algorithm = policy.algorithm;
        if (is_exchange(call.kind))
            return {};
        if (Refusal own = refuses_mode(policy, call, group))
            return own;
        if (algorithm == Algorithm::kAuto)
            return {};
        if (Refusal narrow = refuses_narrow(policy, call, group.topology()))
            return narrow;
        const std::string why =
            entry_of(algorithm).knows(call.kind)
                ? why_not(algorithm, call.kind, call.datatype, group.topology(), group.ranks())
                : fmt::format("NCCL has no {} by {}", to_string(call.kind), enum_name(algorithm));
        return {
            why, "algorithm", enum_name(algorithm),
            all_reduce(call.kind) ? "ring, tree or auto" : "ring or auto"};
    }
    [[nodiscard]] CollectivePolicy instead(CollectivePolicy policy) const override {
        policy.algorithm = Algorithm::kRing;
        return policy;
    }
    [[nodiscard]] CollectiveConfig choose(
        const CollectiveParams& params, const CollectivePolicy& policy, const CollectiveCall& call,
        const CallGroup& group) const override {
        const MachineView& machine = group.machine();
        if (is_exchange(call.kind)) {
            const bool one = call.kind == CollectiveKind::kSendReceive;
            return choose_exchange(
                params, policy, machine, one ? call.bytes : call.bytes / machine.ranks,
                one ? 1 : machine.ranks);
        }
        if (!all_reduce(call.kind) && policy.algorithm == Algorithm::kInSwitch) {
            CollectiveConfig choice;
            choice.algorithm = Algorithm::kInSwitch;
            choice.channels = policy.channels != 0 ? policy.channels : params.in_switch_channels;
            return choice;
        }
        return choose_collective(params, policy, machine, call);
    }
    [[nodiscard]] bool shares_traced_kernel(const CollectiveConfig& choice) const override {
        // Rings and trees share one kernel; in-switch reductions use another.
        return !reduces_in_switch(choice.algorithm);
    }
    [[nodiscard]] ResidentShape
    kernel(const CollectiveParams& params, const CollectiveConfig& choice) const override {
        if (reduces_in_switch(choice.algorithm))
            return {
                params.in_switch_threads, params.registers_per_thread, params.shared_memory,
                params.launch_latency, Time()};
        const ProtocolParams& protocol = params_of(params, choice.protocol);
        return {
            choice.threads != 0 ? choice.threads : protocol.threads, params.registers_per_thread,
            params.shared_memory,
            params.launch_latency -
                portion(protocol.threads_start, missing_threads(params, choice)),
            protocol.start_overhead};
    }
    void
    distinguish(const CollectiveConfig& choice, std::vector<std::uint64_t>& words) const override {
        const auto& own = choice.of<NcclConfig>();
        words.insert(
            words.end(), {static_cast<std::uint64_t>(own.mode), own.registered ? 1U : 0U,
                          own.for_a_peer, own.chunk, own.peers_of_a_block});
        if (own.own_mode != nullptr)
            words.push_back(reinterpret_cast<std::uintptr_t>(own.own_mode));
        if (own.quantised.used())
            words.insert(
                words.end(), {static_cast<std::uint64_t>(own.quantised.at),
                              static_cast<std::uint64_t>(own.quantised.format), own.quantised.block,
                              own.quantised.scale_bytes});
    }
    [[nodiscard]] ChoiceWords words(const CollectiveConfig& choice) const override {
        const auto& own = choice.of<NcclConfig>();
        if (own.of_experts)
            return {enum_name(ExpertsLibrary::kNccl), {}, {}};
        const SwitchMode& mode = mode_of(own);
        const bool studied = reduces_in_switch(choice.algorithm) && !mode.exists();
        return {
            own.for_a_peer != 0 ? "direct" : enum_name(choice.algorithm),
            choice.algorithm == Algorithm::kInSwitch ? mode.name() : enum_name(choice.protocol),
            own.quantised.used() ? "8-bit sums"
            : studied            ? mode.name()
                                 : std::string_view()};
    }
    [[nodiscard]] std::optional<MemberPairs> pairs(const CollectiveSpec& spec) const override {
        if (is_exchange(spec.kind))
            return all_pairs(spec);
        const auto of = entry_of(spec.choice.algorithm).pairs;
        return of == nullptr ? std::nullopt : std::optional(of(spec));
    }
    [[nodiscard]] bool ends_together(const CollectiveConfig& choice) const override {
        return std::ranges::any_of(kEntries, [&](const Entry& entry) {
            return entry.algorithm == choice.algorithm && entry.ends_together;
        });
    }
    [[nodiscard]] std::unique_ptr<RunningCollective> make(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::string& refused) const override {
        if (spec.parts != nullptr)
            return make_uneven_exchange(environment, spec, listener, refused);
        return entry_of(spec.choice.algorithm).make(environment, spec, listener, refused);
    }
};

}  // namespace

const CommunicationLibrary& nccl_library() {
    static const NcclLibrary library;
    return library;
}

}  // namespace switchfold
