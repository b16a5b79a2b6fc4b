// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/shortcuts/collective_memo.h"
#include "models/collectives/shortcuts/reaches.h"
#include "models/collectives/shortcuts/traffic_counts.h"
#include "models/probe.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace switchfold {

class Fabric;
struct CollectiveSpec;

/// The memos of all parts of a machine on which collectives run: those of one part are undisturbed
/// by what goes on in others that have no link and no GPU in common with it.
class CollectiveMemos final : public Probe {
public:
    CollectiveMemos(Fabric& fabric, TrafficCounts& counts, bool beside_kernels);

    /// A collective begins, and disturbs those that it may touch. \returns the number of its part.
    std::uint32_t begins(const CollectiveSpec& spec);
    void ends(std::uint32_t part) { reaches_.end(part); }
    [[nodiscard]] CollectiveMemo& at(std::uint32_t part) { return *memos_[part]; }
    /// Nothing else is under way there but the one collective.
    [[nodiscard]] bool alone(std::uint32_t part) const;
    void on_host_copy(Time /*now*/) override;
    /// Simulated time that recalled collectives took, in all parts.
    [[nodiscard]] Time recalled() const;

private:
    [[nodiscard]] std::uint32_t part_of(const CollectiveSpec& spec);
    void add_memo(PartCounts counts);

    Fabric& fabric_;
    TrafficCounts& counts_;
    bool beside_kernels_;
    Reaches reaches_;
    std::vector<std::unique_ptr<CollectiveMemo>> memos_;  ///< by number of their reach
    std::map<std::vector<std::uint32_t>, std::uint32_t> known_;  ///< by ranks: their part
};

}  // namespace switchfold
