// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/parameters.h"
#include "models/memory/contention.h"
#include "sim/config/experiment.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace switchfold {

/// Maps a system's ranks to GPUs. GPUs with equal parameters form one kind, wherever they are
/// defined. The system must outlive this object.
class RankGpus {
public:
    /// All ranks have this GPU.
    // NOLINTNEXTLINE(google-explicit-constructor): a GPU is a system of equal ones
    RankGpus(const GpuParams& all) : kinds_{&all} {}
    // NOLINTNEXTLINE(google-explicit-constructor): a system says it
    RankGpus(const SystemParams& system);
    /// For a workload whose rank i runs on the system's GPU `places[i]`.
    RankGpus(const SystemParams& system, const std::vector<std::uint32_t>& places);

    [[nodiscard]] const std::vector<const GpuParams*>& kinds() const { return kinds_; }
    [[nodiscard]] std::uint32_t kind(std::uint32_t rank) const {
        const auto found = kind_.find(rank);
        return found == kind_.end() ? 0 : found->second;
    }
    [[nodiscard]] const GpuParams& of(std::uint32_t rank) const { return *kinds_[kind(rank)]; }
    /// Kinds of the first `ranks` ranks.
    [[nodiscard]] std::set<std::uint32_t> used(std::uint32_t ranks) const;
    /// GPUs of the system that share a host; 1 if none is known.
    [[nodiscard]] std::uint32_t of_a_machine() const;
    /// Ranks of each machine, if they follow each other and all machines have as many; else 0.
    [[nodiscard]] std::uint32_t in_order_on_machines() const;

private:
    const SystemParams* system_ = nullptr;
    std::vector<const GpuParams*> kinds_;
    std::map<std::uint32_t, std::uint32_t> kind_;  ///< by rank; ranks of the first kind are omitted
    std::vector<std::uint32_t> places_;            ///< by rank; empty: rank i is GPU i
};

/// Mechanisms of contention that any of its GPUs has by its parameters.
[[nodiscard]] Contention contention_of(const SystemParams& system);
/// Names of its GPUs on which the wait of completions was not measured, if they have one.
[[nodiscard]] std::set<std::string> unmeasured_completions(const SystemParams& system);

}  // namespace switchfold
