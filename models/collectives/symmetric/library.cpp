// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/library.h"

#include "models/collectives/choice/policy_checks.h"
#include "models/collectives/libraries.h"
#include "models/collectives/symmetric/symmetric_move.h"

namespace switchfold {

namespace {

class SymmetricLibrary final : public CommunicationLibrary {
public:
    [[nodiscard]] bool
    serves(CollectiveKind /*kind*/, const CollectivePolicy& policy) const override {
        return policy.kernels == Kernels::kSymmetric;
    }
    [[nodiscard]] bool made(const CollectiveConfig& choice) const override {
        return choice.is<SymmetricConfig>();
    }

    [[nodiscard]] std::vector<Algorithm> algorithms(CollectiveKind kind) const override {
        if (!symmetric_knows(kind))
            return {};
        return {Algorithm::kDirect, Algorithm::kInSwitch};
    }
    [[nodiscard]] std::string_view lack() const override {
        return "there are no symmetric kernels of";
    }
    void check(
        CollectiveKind kind, const CollectivePolicy& policy, ParamChecker& checker) const override {
        const PolicyChecks at(kind, policy, checker);
        if (policy.protocol == Protocol::kLl128)
            at.error(
                "protocol",
                "is ll128, which symmetric kernels do not support; expected auto, ll or simple");
        if (policy.protocol == Protocol::kLl && kind == CollectiveKind::kReduceScatter &&
            policy.algorithm == Algorithm::kInSwitch)
            at.error(
                "protocol", "is ll, in which the switch adds nothing; expected auto or simple");
        at.expect_pull();
        at.expect_no_copies();
    }
    [[nodiscard]] std::vector<ResidentShape>
    kernels(const CollectiveParams& params, const CollectivePolicy& /*policy*/) const override {
        return {kernel(params, {})};
    }

    [[nodiscard]] Refusal refuses(
        const CollectiveParams& params, const CollectivePolicy& policy, const CollectiveCall& call,
        const CallGroup& group) const override {
        return {
            why_no_symmetric(params, policy, group.machine(), call), "kernels",
            enum_name(policy.kernels), "classic"};
    }
    [[nodiscard]] CollectivePolicy instead(CollectivePolicy policy) const override {
        return with_classic_kernels(policy);
    }
    [[nodiscard]] CollectiveConfig choose(
        const CollectiveParams& params, const CollectivePolicy& policy, const CollectiveCall& call,
        const CallGroup& group) const override {
        return choose_symmetric(params, policy, group.machine(), call);
    }
    [[nodiscard]] ResidentShape
    kernel(const CollectiveParams& params, const CollectiveConfig& /*choice*/) const override {
        const SymmetricParams& symmetric = params.symmetric;
        return {
            symmetric.threads, symmetric.registers_per_thread, symmetric.shared_memory,
            symmetric.launch_latency, Time()};
    }
    [[nodiscard]] ChoiceWords words(const CollectiveConfig& choice) const override {
        return {
            enum_name(choice.algorithm),
            choice.protocol == Protocol::kLl ? "symmetric_ll" : "symmetric",
            {}};
    }
    [[nodiscard]] std::optional<MemberPairs> pairs(const CollectiveSpec& spec) const override {
        return all_pairs(spec);
    }
    [[nodiscard]] bool ends_together(const CollectiveConfig& choice) const override {
        return choice.algorithm == Algorithm::kInSwitch;
    }
    [[nodiscard]] std::unique_ptr<RunningCollective> make(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::string& refused) const override {
        return make_symmetric_collective(environment, spec, listener, refused);
    }
};

}  // namespace

const CommunicationLibrary& nccl_symmetric_library() {
    static const SymmetricLibrary library;
    return library;
}

}  // namespace switchfold
