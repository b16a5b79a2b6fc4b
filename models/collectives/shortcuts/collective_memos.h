// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/fabric.h"
#include "models/collectives/choice/algorithm.h"
#include "models/collectives/member_pairs.h"
#include "models/collectives/rank_port.h"
#include "models/collectives/shortcuts/collective_memo.h"
#include "models/collectives/shortcuts/reaches.h"
#include "models/collectives/shortcuts/traffic_counts.h"
#include "models/probe.h"

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace switchfold {

class CommunicationLibrary;
struct CollectiveSpec;

/// The memos of all parts of a machine on which collectives run. What passes in one part is
/// disturbed by nothing in others that have no link in common with it, and no memory that can be
/// short of bandwidth for both; what is recorded, by nothing on other GPUs and links.
class CollectiveMemos final : public Probe {
public:
    CollectiveMemos(
        Fabric& fabric, TrafficCounts& counts, const std::vector<RankPort*>& ports, Recall recall);

    /// A collective begins, and disturbs those that it may touch. \returns the number of its part.
    std::uint32_t begins(const CollectiveSpec& spec);
    void ends(std::uint32_t part) { reaches_.end(part); }
    [[nodiscard]] CollectiveMemo& at(std::uint32_t part) { return *memos_[part]; }
    /// Nothing else is under way that touches it.
    [[nodiscard]] bool alone(std::uint32_t part) const {
        return reaches_.touched_by(part) == 1 && !host_copies();
    }
    /// Nothing else is under way that slows its data.
    [[nodiscard]] bool undisturbed(std::uint32_t part) const {
        return reaches_.slowed_by(part) == 1 && !host_copies();
    }
    void on_host_copy(Time /*now*/) override;
    /// Simulated time that recalled collectives took, in all parts.
    [[nodiscard]] Time recalled() const;

private:
    [[nodiscard]] std::uint32_t part_of(const CollectiveSpec& spec);
    [[nodiscard]] Reach reach_of(const std::vector<std::uint32_t>& ranks, const MemberPairs& pairs);
    void add_memo(PartCounts counts, bool end_together);
    [[nodiscard]] bool host_copies() const { return fabric_.host_traffic().copies > 0; }

    Fabric& fabric_;
    TrafficCounts& counts_;
    const std::vector<RankPort*>& ports_;
    Recall recall_;
    Reaches reaches_;
    std::vector<std::unique_ptr<CollectiveMemo>> memos_;  ///< by number of their reach
    /// Library, algorithm, whether it is an exchange, and ranks.
    using Name =
        std::tuple<const CommunicationLibrary*, Algorithm, bool, std::vector<std::uint32_t>>;
    std::map<Name, std::uint32_t> known_;  ///< parts
};

}  // namespace switchfold
