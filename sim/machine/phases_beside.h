// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/beside.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// What a collective does to one of its GPUs where it runs alone on its machine.
struct CommunicationDraw {
    double time_us = 0;  ///< in which it moves its data
    double bytes_per_second = 0;
    Bytes footprint;
};

/// Appends the communication that a resident collective is beside a kernel: its blocks while it is
/// resident, from `from_us` to `to_us` of the kernel's clock, and its traffic while it moves data.
/// A collective is resident from its launch on one rank, but moves data only once its peers have
/// arrived. Therefore
/// - in a ring or tree, all blocks stay to the end, and the transfer is the last part of the
///   residence;
/// - in an all-to-all, each block serves some peers and leaves with them: after the transfer with
///   the peers present, the blocks of one late peer stay.
void add_phases(
    const CollectiveOperation& operation, const CommunicationDraw& draw, std::uint32_t ranks,
    double from_us, double to_us, std::vector<CommunicationPhase>& phases);

}  // namespace switchfold
