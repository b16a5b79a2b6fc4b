// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/raw_trace.h"

#include <optional>
#include <vector>

namespace switchfold {

/// What a communication kernel does: by the call that issued it, else by its own name. Nothing if
/// neither says.
[[nodiscard]] std::optional<CollectiveKind>
collective_kind(const RawTrace& raw, const RawGpuEvent& gpu);

/// The global ranks that the trace lists for the collective's group, ascending; if it lists none,
/// as many as the group has (or the world) around the traced
/// rank.
[[nodiscard]] std::vector<std::uint32_t>
group_ranks(const RawTrace& raw, const CollectiveDetails& details);

/// A communication kernel as a collective, all but its group and sequence. Its size comes from the
/// kernel's own counts, else from the tensors of the call that issued it; bytes are zero and
/// SizeSource says so if neither is there.
[[nodiscard]] CollectiveOperation describe_collective(
    const RawTrace& raw, const RawGpuEvent& gpu, CollectiveKind kind, std::size_t group_size);

}  // namespace switchfold
