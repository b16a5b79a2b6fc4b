// SPDX-License-Identifier: Apache-2.0
#include "sim/uncertainty/part_kinds.h"

#include "models/collectives/engine.h"
#include "models/collectives/library.h"
#include "sim/machine/likeness.h"
#include "sim/machine/system_queries.h"
#include "sim/results/collective_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <variant>

namespace switchfold {

namespace {

/// No machine with these was ever measured here: what is like it is not known.
std::string why_unlike(const TopologyParams& topology) {
    if (std::holds_alternative<TorusTopology>(topology))
        return "no torus was measured";
    if (std::holds_alternative<NetworkTopology>(topology))
        return "no machine whose GPUs are all on one network was measured";
    return {};
}

/// As measured tables divide kernels; empty where its operator is unknown.
std::string operation_of_kernel(const KernelOperation& kernel) {
    switch (kernel.kernel_class) {
    case KernelClass::kGemmConv:
        return kernel.shape.kind == ShapeKind::kProduct ? "product" : "";
    case KernelClass::kAttention:
        return "attention";
    default:
        return "other";
    }
}

void tell_study(std::string_view study, PartKind& kind) {
    if (!study.empty())
        kind.unmeasured = fmt::format("no switch that reduces by {} was measured", study);
}

}  // namespace

PartKinds::PartKinds(const SystemParams& system) :
    one_rank_(likeness_on(system, {}, 1)),
    unlike_(why_unlike(*system.topology)),
    machine_gpus_(std::max(1U, gpus_of_machine(system))) {}

intervals::Likeness PartKinds::here(const char* kind, std::uint32_t ranks) const {
    intervals::Likeness like = one_rank_;
    like.kind = kind;
    like.ranks = std::max(1U, ranks);
    like.machines = machines_of(like.ranks, machine_gpus_);
    return like;
}

std::size_t PartKinds::intern(const std::string& key, PartKind kind) {
    const auto [at, fresh] = known_.try_emplace(key, kinds_.size());
    if (fresh)
        kinds_.push_back(std::move(kind));
    return at->second;
}

std::size_t PartKinds::of(const KernelOperation& kernel) {
    PartKind kind;
    kind.like.kind = "kernel";
    kind.like.generation = one_rank_.generation;
    kind.like.operation = operation_of_kernel(kernel);
    // By powers of four: steps have thousands of kernels.
    constexpr double kStep = 2;
    const double us = to_microseconds(kernel.isolated);
    if (us > 0)
        kind.like.us = std::exp2(kStep * std::round(std::log2(us) / kStep));
    return intern(fmt::format("kernel {} {}", kind.like.operation, kind.like.us), kind);
}

std::size_t PartKinds::of_overlap(const std::string& operation, std::uint32_t ranks) {
    PartKind kind{here("overlap", ranks), {}};
    kind.like.operation = operation;
    return intern("overlap", kind);
}

PartKind PartKinds::of_step(const std::string& operation, std::uint32_t ranks) const {
    PartKind kind{here("step", ranks), unlike_};
    kind.like.operation = operation;
    return kind;
}

PartKind PartKinds::kind_of(const CollectiveRecord& record, const Group* group) const {
    PartKind kind{here("collective", record.ranks), unlike_};
    intervals::Likeness& like = kind.like;
    like.operation = to_string(record.kind);
    like.algorithm = algorithm_of(record);
    like.bytes = static_cast<double>(record.bytes.count());
    std::set<std::uint32_t> machines;
    if (record.sender != record.receiver)
        machines = {record.sender / machine_gpus_, record.receiver / machine_gpus_};
    else if (group != nullptr && group->stands_for == 0)
        for (const std::uint32_t rank : group->ranks)
            machines.insert(rank / machine_gpus_);
    if (!machines.empty())
        like.machines = static_cast<std::uint32_t>(machines.size());
    tell_study(library_of(record.choice).words(record.choice).study, kind);
    return kind;
}

std::size_t PartKinds::of(const CollectiveRecord& record, const Group* group) {
    return intern_collective(kind_of(record, group));
}

std::size_t PartKinds::of(const CollectiveOperation& collective, const MeasuredAs& as) {
    PartKind kind{here("collective", as.ranks), unlike_};
    kind.like.operation = to_string(collective.kind);
    kind.like.algorithm = as.algorithm;
    kind.like.bytes = static_cast<double>(collective.bytes.count());
    kind.like.machines = as.machines;
    tell_study(as.study, kind);
    return intern_collective(std::move(kind));
}

/// By powers of two.
std::size_t PartKinds::intern_collective(PartKind kind) {
    if (kind.like.bytes > 0)
        kind.like.bytes = std::exp2(std::round(std::log2(kind.like.bytes)));
    return intern(
        fmt::format(
            "{} {} {} {} {} {}", kind.like.operation, kind.like.algorithm, kind.like.bytes,
            kind.like.ranks, kind.like.machines, kind.unmeasured),
        kind);
}

}  // namespace switchfold
