// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/algorithm_table.h"

#include "models/collectives/choice/exchange.h"
#include "models/collectives/choice/known_algorithms.h"
#include "models/collectives/copy/copy_choice.h"
#include "models/collectives/experts/choice.h"
#include "models/collectives/symmetric/symmetric_move.h"
#include "sim/core/error.h"

#include <algorithm>
#include <array>

namespace switchfold {

namespace {

/// \pre 0 <= share <= 1
Time portion(Time whole, double share) {
    return Time(static_cast<std::uint64_t>(static_cast<double>(whole.count()) * share));
}

ResidentShape fifo_shape(const CollectiveParams& params, const Choice& choice) {
    const ProtocolParams& protocol = params_of(params, choice.protocol);
    return {
        choice.threads != 0 ? choice.threads : protocol.threads,
        params.registers_per_thread,
        params.shared_memory,
        params.launch_latency - portion(protocol.threads_start, missing_threads(params, choice)),
        protocol.start_overhead};
}

ResidentShape switch_shape(const CollectiveParams& params, const Choice& /*choice*/) {
    return {
        params.in_switch_threads,
        params.registers_per_thread,
        params.shared_memory,
        params.launch_latency,
        Time()};
}

ResidentShape symmetric_shape(const CollectiveParams& params, const Choice& /*choice*/) {
    const SymmetricParams& symmetric = params.symmetric;
    return {
        symmetric.threads,
        symmetric.registers_per_thread,
        symmetric.shared_memory,
        symmetric.launch_latency,
        Time()};
}

ResidentShape experts_shape(const CollectiveParams& params, const Choice& /*choice*/) {
    return {
        params.experts.threads,
        params.experts.registers_per_thread,
        params.experts.shared_memory,
        params.launch_latency,
        Time()};
}

ResidentShape low_latency_shape(const CollectiveParams& params, const Choice& choice) {
    ResidentShape shape = experts_shape(params, choice);
    shape.threads = kLowLatencyThreads;
    shape.registers_per_thread = kLowLatencyRegisters;
    return shape;
}

ResidentShape no_shape(const CollectiveParams& /*params*/, const Choice& /*choice*/) {
    return {};
}

/// An all-reduce inside one domain has its own pipeline, depending on the mode; other collectives
/// run over heads.
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

bool all_reduce(CollectiveKind kind) {
    return kind == CollectiveKind::kAllReduce;
}
bool halves(CollectiveKind kind) {
    return all_reduce(kind) || kind == CollectiveKind::kReduceScatter ||
           kind == CollectiveKind::kAllGather;
}
bool no_exchange(CollectiveKind kind) {
    return !is_exchange(kind);
}
bool copies_to_all(CollectiveKind kind) {
    return copy_knows(kind) && no_exchange(kind);
}

/// One entry per algorithm. Dispatches and combines are selected by library instead.
struct Entry {
    ExpertsLibrary library;
    Kernels kernels;
    Algorithm algorithm;
    bool (*knows)(CollectiveKind);  ///< kinds for which a policy may name it
    MakeCollective* make;
    ResidentShape (*shape)(const CollectiveParams&, const Choice&);
};
constexpr Entry entry(
    Kernels kernels,
    Algorithm algorithm,
    bool (*knows)(CollectiveKind),
    MakeCollective* make,
    ResidentShape (*shape)(const CollectiveParams&, const Choice&)) {
    return {ExpertsLibrary::kAuto, kernels, algorithm, knows, make, shape};
}
constexpr Entry
experts(ExpertsLibrary library, ResidentShape (*shape)(const CollectiveParams&, const Choice&)) {
    return {library, Choice().kernels, Choice().algorithm, nullptr, make_experts_collective, shape};
}
constexpr std::array kEntries{
    entry(Kernels::kClassic, Algorithm::kRing, no_exchange, make_fifo_collective, fifo_shape),
    entry(Kernels::kClassic, Algorithm::kTree, all_reduce, make_fifo_collective, fifo_shape),
    entry(Kernels::kClassic, Algorithm::kInSwitch, halves, make_in_switch, switch_shape),
    entry(
        Kernels::kClassic,
        Algorithm::kInSwitchTree,
        all_reduce,
        make_heads_collective,
        switch_shape),
    entry(
        Kernels::kClassic,
        Algorithm::kInSwitchRing,
        all_reduce,
        make_heads_collective,
        switch_shape),
    entry(Kernels::kClassic, Algorithm::kCollnet, all_reduce, make_heads_collective, switch_shape),
    entry(Kernels::kClassic, Algorithm::kOwners, all_reduce, make_peer_copies, no_shape),
    entry(Kernels::kClassic, Algorithm::kTopologyTree, all_reduce, make_peer_copies, no_shape),
    entry(Kernels::kClassic, Algorithm::kHost, all_reduce, make_peer_copies, no_shape),
    entry(
        Kernels::kSymmetric,
        Algorithm::kDirect,
        symmetric_knows,
        make_symmetric_collective,
        symmetric_shape),
    entry(
        Kernels::kSymmetric,
        Algorithm::kInSwitch,
        symmetric_knows,
        make_symmetric_collective,
        symmetric_shape),
    entry(Kernels::kCopyEngine, Algorithm::kDirect, copy_knows, make_copy_collective, no_shape),
    entry(
        Kernels::kCopyEngine, Algorithm::kInSwitch, copies_to_all, make_copy_collective, no_shape),
    experts(ExpertsLibrary::kDeepepNormal, experts_shape),
    experts(ExpertsLibrary::kDeepepLowLatency, low_latency_shape),
    experts(ExpertsLibrary::kTrtllmTwoSided, experts_shape),
    experts(ExpertsLibrary::kInSwitch, experts_shape),
    experts(ExpertsLibrary::kNccl, fifo_shape)};  // made as an exchange of unequal parts

const Entry& entry_of(const Choice& choice) {
    const auto* const at = std::find_if(kEntries.begin(), kEntries.end(), [&](const Entry& e) {
        return e.library == choice.library && e.kernels == choice.kernels &&
               e.algorithm == choice.algorithm;
    });
    SWITCHFOLD_CHECK(
        at != kEntries.end(),
        "no algorithm runs {} with {} kernels",
        enum_name(choice.algorithm),
        enum_name(choice.kernels));
    return *at;
}

}  // namespace

std::vector<Algorithm> algorithms_for(CollectiveKind kind, Kernels kernels) {
    std::vector<Algorithm> found;
    for (const Entry& e : kEntries)
        if (e.kernels == kernels && e.knows != nullptr && e.knows(kind))
            found.push_back(e.algorithm);
    return found;
}

ResidentShape kernel_shape(const CollectiveParams& params, const Choice& choice) {
    return entry_of(choice).shape(params, choice);
}

ResidentShape kernel_shape(const CollectiveParams& params, const CollectiveSpec& spec) {
    if (spec.given == Time())
        return kernel_shape(params, spec.choice);
    return {spec.choice.threads, spec.registers_per_thread, spec.shared_memory, Time(), Time()};
}

std::unique_ptr<RunningCollective> make_collective(
    const CollectiveEnvironment& environment,
    const CollectiveSpec& spec,
    MemberListener& listener,
    std::string& refused) {
    if (spec.given != Time())
        return make_as_traced(environment, spec, listener, refused);
    if (spec.parts != nullptr)
        return make_uneven_exchange(environment, spec, listener, refused);
    return entry_of(spec.choice).make(environment, spec, listener, refused);
}

}  // namespace switchfold
