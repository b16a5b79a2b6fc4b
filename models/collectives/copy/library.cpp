// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/library.h"

#include "models/collectives/choice/exchange.h"
#include "models/collectives/choice/policy_checks.h"
#include "models/collectives/copy/copy_choice.h"
#include "models/collectives/libraries.h"

namespace switchfold {

namespace {

class CopyEngineLibrary final : public CommunicationLibrary {
public:
    [[nodiscard]] bool
    serves(CollectiveKind /*kind*/, const CollectivePolicy& policy) const override {
        return policy.kernels == Kernels::kCopyEngine;
    }
    [[nodiscard]] bool made(const CollectiveConfig& choice) const override {
        return choice.is<CopyEngineConfig>();
    }

    [[nodiscard]] std::vector<Algorithm> algorithms(CollectiveKind kind) const override {
        if (!copy_knows(kind))
            return {};
        if (is_exchange(kind))
            return {Algorithm::kDirect};
        return {Algorithm::kDirect, Algorithm::kInSwitch};
    }
    [[nodiscard]] std::string_view lack() const override { return "copy engines run no"; }
    void check(
        CollectiveKind kind, const CollectivePolicy& policy, ParamChecker& checker) const override {
        const PolicyChecks at(kind, policy, checker);
        if (policy.protocol == Protocol::kLl || policy.protocol == Protocol::kLl128)
            at.error(
                "protocol", "is one of thread blocks, and copy engines have none; expected auto");
        at.expect_pull();
        at.expect_no_blocks("copy engines");
        at.expect_no_copies();
    }

    [[nodiscard]] Refusal refuses(
        const CollectiveParams& params, const CollectivePolicy& policy, const CollectiveCall& call,
        const CallGroup& group) const override {
        std::string why = why_no_copy(params, policy, group.machine(), call);
        // What differs is a group of sends and receives, which NCCL runs with classic kernels.
        if (why.empty() && !call.even)
            why = "its parts differ, and copy engines exchange only equal ones";
        return {why, "kernels", enum_name(policy.kernels), "classic"};
    }
    [[nodiscard]] CollectivePolicy instead(CollectivePolicy policy) const override {
        return with_classic_kernels(policy);
    }
    [[nodiscard]] CollectiveConfig choose(
        const CollectiveParams& params, const CollectivePolicy& policy, const CollectiveCall& call,
        const CallGroup& group) const override {
        return choose_copy(params, policy, group.machine(), call);
    }
    [[nodiscard]] ResidentShape
    kernel(const CollectiveParams& /*params*/, const CollectiveConfig& /*choice*/) const override {
        return {};
    }
    [[nodiscard]] ChoiceWords words(const CollectiveConfig& choice) const override {
        return {enum_name(choice.algorithm), "copy_engine", {}};
    }
    [[nodiscard]] std::unique_ptr<RunningCollective> make(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::string& refused) const override {
        return make_copy_collective(environment, spec, listener, refused);
    }
};

}  // namespace

const CommunicationLibrary& copy_engine_library() {
    static const CopyEngineLibrary library;
    return library;
}

}  // namespace switchfold
