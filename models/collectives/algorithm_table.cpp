// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/algorithm_table.h"

#include "models/collectives/experts/choice.h"
#include "sim/core/error.h"

#include <algorithm>
#include <array>

namespace switchfold {

namespace {

KernelShape fifo_shape(const CollectiveParams& params, const Choice& choice) {
    const ProtocolParams& protocol = params_of(params, choice.protocol);
    return {
        protocol.threads,
        params.registers_per_thread,
        params.shared_memory,
        params.launch_latency,
        protocol.start_overhead};
}

KernelShape switch_shape(const CollectiveParams& params, const Choice& /*choice*/) {
    return {
        params.in_switch_threads,
        params.registers_per_thread,
        params.shared_memory,
        params.launch_latency,
        Time()};
}

KernelShape symmetric_shape(const CollectiveParams& params, const Choice& /*choice*/) {
    const SymmetricParams& symmetric = params.symmetric;
    return {
        symmetric.threads,
        symmetric.registers_per_thread,
        symmetric.shared_memory,
        symmetric.launch_latency,
        Time()};
}

KernelShape experts_shape(const CollectiveParams& params, const Choice& choice) {
    const ExpertsParams& experts = params.experts;
    const bool low_latency = choice.library == ExpertsLibrary::kDeepepLowLatency;
    return {
        low_latency ? kLowLatencyThreads : experts.threads,
        low_latency ? kLowLatencyRegisters : experts.registers_per_thread,
        experts.shared_memory,
        params.launch_latency,
        Time()};
}

KernelShape no_shape(const CollectiveParams& /*params*/, const Choice& /*choice*/) {
    return {};
}

/// Inside one domain an all-reduce has a pipeline of its own, by who begins; halves of it go over
/// heads.
std::unique_ptr<RunningCollective> make_in_switch(
    const CollectiveEnvironment& environment,
    const CollectiveSpec& spec,
    MemberListener& listener,
    std::string& refused) {
    if (spec.kind != CollectiveKind::kAllReduce)
        return make_heads_collective(environment, spec, listener, refused);
    return spec.choice.mode == InSwitchMode::kPush
               ? make_push_all_reduce(environment, spec, listener, refused)
               : make_pull_all_reduce(environment, spec, listener, refused);
}

/// One algorithm a line.
struct Entry {
    Kernels kernels;
    Algorithm algorithm;
    MakeCollective* make;
    KernelShape (*shape)(const CollectiveParams&, const Choice&);
};
constexpr std::array kEntries{
    Entry{Kernels::kClassic, Algorithm::kRing, make_fifo_collective, fifo_shape},
    Entry{Kernels::kClassic, Algorithm::kTree, make_fifo_collective, fifo_shape},
    Entry{Kernels::kClassic, Algorithm::kInSwitch, make_in_switch, switch_shape},
    Entry{Kernels::kClassic, Algorithm::kInSwitchTree, make_heads_collective, switch_shape},
    Entry{Kernels::kClassic, Algorithm::kInSwitchRing, make_heads_collective, switch_shape},
    Entry{Kernels::kClassic, Algorithm::kCollnet, make_heads_collective, switch_shape},
    Entry{Kernels::kSymmetric, Algorithm::kDirect, make_symmetric_collective, symmetric_shape},
    Entry{Kernels::kSymmetric, Algorithm::kInSwitch, make_symmetric_collective, symmetric_shape},
    Entry{Kernels::kCopyEngine, Algorithm::kDirect, make_copy_collective, no_shape},
    Entry{Kernels::kCopyEngine, Algorithm::kInSwitch, make_copy_collective, no_shape}};

const Entry& entry_of(const Choice& choice) {
    const auto at = std::find_if(kEntries.begin(), kEntries.end(), [&](const Entry& entry) {
        return entry.kernels == choice.kernels && entry.algorithm == choice.algorithm;
    });
    SWITCHFOLD_CHECK(
        at != kEntries.end(),
        "nobody makes {} with {} kernels",
        enum_name(choice.algorithm),
        enum_name(choice.kernels));
    return *at;
}

}  // namespace

KernelShape kernel_shape(const CollectiveParams& params, const Choice& choice) {
    if (choice.library != ExpertsLibrary::kAuto)
        return experts_shape(params, choice);
    return entry_of(choice).shape(params, choice);
}

std::unique_ptr<RunningCollective> make_collective(
    const CollectiveEnvironment& environment,
    const CollectiveSpec& spec,
    MemberListener& listener,
    std::string& refused) {
    if (spec.experts != nullptr)
        return make_experts_collective(environment, spec, listener, refused);
    return entry_of(spec.choice).make(environment, spec, listener, refused);
}

}  // namespace switchfold
