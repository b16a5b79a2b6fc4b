// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/group_table.h"
#include "workloads/profile/raw_trace.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace switchfold {

/// What the communication kernels of a trace become in its graph: collectives of their groups,
/// sends and receives, or kernels that take their traced time. Call it in launch order.
class CommunicationBodies {
public:
    /// Adds groups and exchanges to `graph`, which must outlive this object, as must `raw`.
    CommunicationBodies(const RawTrace& raw, ExecutionGraph& graph) :
        raw_(raw), groups_(graph.groups), exchanges_(graph.exchanges), group_table_(graph.groups) {}

    /// Sends and receives of a kernel; what it sends to itself is no message.
    [[nodiscard]] std::vector<RawMessage> messages_of(const RawGpuEvent& gpu) const;
    /// One of them.
    [[nodiscard]] OperationBody
    message_body(const RawGpuEvent& gpu, const RawMessage& message) const;
    /// What the kernel becomes; of several messages the first.
    [[nodiscard]] OperationBody
    body_of(const RawGpuEvent& gpu, const std::vector<RawMessage>& messages);
    /// Adds what was assumed, a sentence each.
    void tell(std::vector<std::string>& warnings) const;

private:
    [[nodiscard]] CollectiveOperation alone_as_traced(const RawGpuEvent& gpu, CollectiveKind kind);
    void take_time(const RawGpuEvent& gpu, CollectiveOperation& collective);
    void take_parts(
        const CollectiveDetails& details, const std::vector<std::uint32_t>& ranks,
        CollectiveOperation& collective);
    std::uint32_t group_of(const CollectiveDetails& details);
    std::uint32_t find_group(const CollectiveDetails& details);

    const RawTrace& raw_;
    std::vector<Group>& groups_;
    std::vector<UnevenExchange>& exchanges_;
    GroupTable group_table_;
    std::map<std::uint32_t, std::uint64_t> sequences_;  ///< next of each group
    std::map<std::tuple<StringInterner::Id, StringInterner::Id, std::uint64_t>, std::uint32_t>
        group_of_;
    std::map<std::uint32_t, std::uint64_t> shortest_;  ///< time of communication kernels, by task
    std::uint64_t unknown_ = 0;
    std::uint64_t unmatched_ = 0;
    std::uint64_t without_model_ = 0;
    std::uint64_t other_parts_ = 0;
    std::uint64_t unlisted_groups_ = 0;
    std::uint64_t cut_groups_ = 0;
    std::uint64_t members_ = 0;
};

}  // namespace switchfold
