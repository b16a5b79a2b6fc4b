// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/library.h"

#include "models/collectives/experts/choice.h"
#include "models/collectives/libraries.h"

namespace switchfold {

namespace {

/// Several libraries of kernels for experts, by the policy's word. Sends and receives of rows by
/// NCCL are refused here like the others, and run as an all-to-all by NCCL.
class KernelsOfExperts final : public CommunicationLibrary {
public:
    [[nodiscard]] bool
    serves(CollectiveKind kind, const CollectivePolicy& /*policy*/) const override {
        return is_experts(kind);
    }
    [[nodiscard]] bool made(const CollectiveConfig& choice) const override {
        return choice.is<ExpertsConfig>();
    }

    [[nodiscard]] StatedKernels stated(const CollectiveParams& params) const override {
        const ExpertsParams& experts = params.experts;
        if (experts.copy_round == Time())
            return {};
        // They need more shared memory than many GPUs have; where they run, refuses() says so.
        return {
            "/collectives/experts",
            {{"experts",
              "threads",
              {experts.threads, experts.registers_per_thread, Bytes(), Time(), Time()}}}};
    }

    [[nodiscard]] Refusal refuses(
        const CollectiveParams& params, const CollectivePolicy& /*policy*/,
        const CollectiveCall& call, const CallGroup& /*group*/) const override {
        const ExpertsCall& experts = *call.experts;
        return why_no_experts(params.experts, experts.policy, experts.exchange, experts.machine);
    }
    [[nodiscard]] CollectivePolicy instead(CollectivePolicy policy) const override {
        return policy;
    }
    [[nodiscard]] CollectiveConfig choose(
        const CollectiveParams& params, const CollectivePolicy& /*policy*/,
        const CollectiveCall& call, const CallGroup& /*group*/) const override {
        const ExpertsCall& experts = *call.experts;
        return choose_experts(
            params, experts.policy, call.kind, experts.exchange, experts.machine.sms);
    }
    [[nodiscard]] std::uint32_t fewest_blocks(const CollectiveCall& call) const override {
        return least_blocks(call.experts->policy, call.experts->exchange);
    }
    [[nodiscard]] ResidentShape
    kernel(const CollectiveParams& params, const CollectiveConfig& choice) const override {
        ResidentShape shape{
            params.experts.threads, params.experts.registers_per_thread,
            params.experts.shared_memory, params.launch_latency, Time()};
        if (choice.of<ExpertsConfig>().library == ExpertsLibrary::kDeepepLowLatency) {
            shape.threads = kLowLatencyThreads;
            shape.registers_per_thread = kLowLatencyRegisters;
        }
        return shape;
    }
    [[nodiscard]] ChoiceWords words(const CollectiveConfig& choice) const override {
        return {enum_name(choice.of<ExpertsConfig>().library), {}, {}};
    }
    [[nodiscard]] std::unique_ptr<RunningCollective> make(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::string& refused) const override {
        return make_experts_collective(environment, spec, listener, refused);
    }
};

}  // namespace

const CommunicationLibrary& experts_library() {
    static const KernelsOfExperts library;
    return library;
}

}  // namespace switchfold
