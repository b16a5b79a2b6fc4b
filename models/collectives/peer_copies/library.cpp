// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/library.h"

#include "models/collectives/choice/policy_checks.h"
#include "models/collectives/libraries.h"
#include "models/collectives/peer_copies/choice.h"

namespace switchfold {

namespace {

class FrameworkLibrary final : public CommunicationLibrary {
public:
    [[nodiscard]] bool
    serves(CollectiveKind /*kind*/, const CollectivePolicy& policy) const override {
        return policy.kernels == Kernels::kClassic && moves_by_copies(policy.algorithm);
    }
    [[nodiscard]] bool made(const CollectiveConfig& choice) const override {
        return choice.is<PeerCopyPolicy>();
    }

    [[nodiscard]] std::vector<Algorithm> algorithms(CollectiveKind kind) const override {
        if (kind != CollectiveKind::kAllReduce)
            return {};
        return {Algorithm::kOwners, Algorithm::kTopologyTree, Algorithm::kHost};
    }
    void check(
        CollectiveKind kind, const CollectivePolicy& policy, ParamChecker& checker) const override {
        const PolicyChecks at(kind, policy, checker);
        if (policy.protocol != Protocol::kAuto)
            at.error("protocol", "is one of thread blocks, and copies have none; expected auto");
        at.expect_no_blocks("copies");
        at.expect_switches_where_registered();
    }

    [[nodiscard]] Refusal refuses(
        const CollectiveParams& /*params*/, const CollectivePolicy& policy,
        const CollectiveCall& call, const CallGroup& group) const override {
        const std::string why =
            call.kind == CollectiveKind::kAllReduce
                ? why_no_peer_copies(policy.algorithm, group.topology(), group.ranks())
                : "a framework's copies add, and leave the sum with every rank";
        return {why, "algorithm", enum_name(policy.algorithm), "ring, tree or auto"};
    }
    [[nodiscard]] CollectivePolicy instead(CollectivePolicy policy) const override {
        policy.algorithm = Algorithm::kRing;
        return policy;
    }
    [[nodiscard]] CollectiveConfig choose(
        const CollectiveParams& params, const CollectivePolicy& policy, const CollectiveCall& call,
        const CallGroup& group) const override {
        return choose_peer_copies(params, policy, group.machine(), call);
    }
    [[nodiscard]] ResidentShape
    kernel(const CollectiveParams& /*params*/, const CollectiveConfig& /*choice*/) const override {
        return {};
    }
    [[nodiscard]] ChoiceWords words(const CollectiveConfig& choice) const override {
        return {enum_name(choice.algorithm), "copies", {}};
    }
    [[nodiscard]] std::unique_ptr<RunningCollective> make(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::string& refused) const override {
        return make_peer_copies(environment, spec, listener, refused);
    }
};

}  // namespace

const CommunicationLibrary& framework_library() {
    static const FrameworkLibrary library;
    return library;
}

}  // namespace switchfold
