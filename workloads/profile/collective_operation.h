// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/raw_trace.h"

#include <optional>
#include <vector>

namespace switchfold {

/// Kind of a communication kernel, from the call that issued it or else from its own name; nothing
/// if neither states one.
[[nodiscard]] std::optional<CollectiveKind>
collective_kind(const RawTrace& raw, const RawGpuEvent& gpu);

/// Global ranks of the collective's group as listed by the trace, ascending. A list that was cut
/// short ("[0, 8, 16, ...]") goes on as it begins. Without any: a block around the traced rank, as
/// large as the group (or the world).
[[nodiscard]] std::vector<std::uint32_t>
group_ranks(const RawTrace& raw, const CollectiveDetails& details);

/// The ranks that the trace lists for the collective's group, ascending; the list may be cut short.
[[nodiscard]] std::vector<std::uint32_t>
listed_ranks(const RawTrace& raw, const CollectiveDetails& details);
/// Whether the trace lists all ranks of the collective's group.
[[nodiscard]] bool lists_ranks(const RawTrace& raw, const CollectiveDetails& details);

/// Bytes of the tensors of the call that issued a kernel; 0 if the trace does not state them.
[[nodiscard]] Bytes tensor_bytes(const RawTrace& raw, const CollectiveDetails& details);

/// Whether the trace states how large the parts of an all-to-all are for each rank.
[[nodiscard]] bool states_parts(const RawTrace& raw, const CollectiveDetails& details);
/// What this rank sends to and receives from each of the group's `ranks`; other pairs are unknown.
/// Nothing if the stated parts are not as many as the ranks.
[[nodiscard]] std::optional<UnevenExchange> exchange_of(
    const RawTrace& raw, const CollectiveDetails& details, const CollectiveOperation& collective,
    const std::vector<std::uint32_t>& ranks);

/// Describes a communication kernel as a collective, except for its group and sequence. Its size
/// comes from the kernel's own counts, or else from the tensors of the call that issued it. Without
/// either, bytes are zero and SizeSource says so.
[[nodiscard]] CollectiveOperation describe_collective(
    const RawTrace& raw, const RawGpuEvent& gpu, CollectiveKind kind, std::size_t group_size);

}  // namespace switchfold
