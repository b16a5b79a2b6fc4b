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

/// Global ranks of the collective's group as listed by the trace, ascending. If it lists none: a
/// block around the traced rank, as large as the group (or the world).
[[nodiscard]] std::vector<std::uint32_t>
group_ranks(const RawTrace& raw, const CollectiveDetails& details);

/// Describes a communication kernel as a collective, except for its group and sequence. Its size
/// comes from the kernel's own counts, or else from the tensors of the call that issued it. Without
/// either, bytes are zero and SizeSource says so.
[[nodiscard]] CollectiveOperation describe_collective(
    const RawTrace& raw, const RawGpuEvent& gpu, CollectiveKind kind, std::size_t group_size);

}  // namespace switchfold
