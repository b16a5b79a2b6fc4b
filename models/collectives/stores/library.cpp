// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/library.h"

#include "models/collectives/choice/machine_view.h"
#include "models/collectives/choice/policy_checks.h"
#include "models/collectives/libraries.h"
#include "models/collectives/stores/stores.h"

#include <fmt/format.h>

namespace switchfold {

namespace {

bool stores_know(CollectiveKind kind) {
    return kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllGather;
}

/// Stores of the warps that make a tile: no kernel of its own, no thread block.
class StoresLibrary final : public CommunicationLibrary {
public:
    [[nodiscard]] bool
    serves(CollectiveKind /*kind*/, const CollectivePolicy& policy) const override {
        return policy.kernels == Kernels::kStores;
    }
    [[nodiscard]] bool made(const CollectiveConfig& choice) const override {
        return choice.is<StoresConfig>();
    }
    [[nodiscard]] std::vector<Algorithm> algorithms(CollectiveKind kind) const override {
        if (!stores_know(kind))
            return {};
        return {Algorithm::kInSwitch};
    }
    [[nodiscard]] std::string_view lack() const override { return "stores of tiles run no"; }
    void check(
        CollectiveKind kind, const CollectivePolicy& policy, ParamChecker& checker) const override {
        const PolicyChecks at(kind, policy, checker);
        if (policy.protocol != Protocol::kAuto)
            at.error("protocol", "is one of NCCL's, and stores of tiles have none; expected auto");
        at.expect_pull();
        at.expect_no_blocks("stores of tiles");
        at.expect_no_copies();
    }

    [[nodiscard]] Refusal refuses(
        const CollectiveParams& /*params*/, const CollectivePolicy& policy,
        const CollectiveCall& call, const CallGroup& group) const override {
        std::string why;
        if (!stores_know(call.kind))
            why = fmt::format(
                "stores of tiles go to the switch in reduce-scatters and all-gathers alone, not in "
                "{}",
                to_string(call.kind));
        else
            why = why_not(
                Algorithm::kInSwitch, call.kind, call.datatype, group.topology(), group.ranks());
        return {why, "kernels", enum_name(policy.kernels), "classic"};
    }
    [[nodiscard]] CollectivePolicy instead(CollectivePolicy policy) const override {
        return with_classic_kernels(policy);
    }
    [[nodiscard]] CollectiveConfig choose(
        const CollectiveParams& /*params*/, const CollectivePolicy& /*policy*/,
        const CollectiveCall& /*call*/, const CallGroup& /*group*/) const override {
        CollectiveConfig choice;
        choice.algorithm = Algorithm::kInSwitch;
        choice.channels = 0;
        choice.own = StoresConfig{};
        return choice;
    }
    [[nodiscard]] ResidentShape
    kernel(const CollectiveParams& /*params*/, const CollectiveConfig& /*choice*/) const override {
        return {};
    }
    [[nodiscard]] ChoiceWords words(const CollectiveConfig& choice) const override {
        return {enum_name(choice.algorithm), "stores", "stores of tiles"};
    }
    [[nodiscard]] std::unique_ptr<RunningCollective> make(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::string& refused) const override {
        return make_tile_stores(environment, spec, listener, refused);
    }
};

}  // namespace

const CommunicationLibrary& tile_stores_library() {
    static const StoresLibrary library;
    return library;
}

}  // namespace switchfold
