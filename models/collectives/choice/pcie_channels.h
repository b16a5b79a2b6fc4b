// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/tuning.h"
#include "models/collectives/parameters.h"

#include <cstdint>

namespace switchfold {

/// Channels of a ring over PCIe inside one machine. NCCL searches for as many rings of a speed as
/// fit what it believes the slots and the links between sockets to carry (graph/search.cc
/// ncclTopoCompute; bandwidths of graph/topo.h), splits fast ones (ncclTopoDupChannels), and
/// connecting doubles them (graph/connect.cc). If nothing fits there is one ring. Logs agree: 4
/// for six RTX 4090 on one EPYC, and for two H20 on one root; 2 for eight RTX PRO 6000 on two
/// EPYCs, whose link counts as 16 GB/s.
[[nodiscard]] std::uint32_t
pcie_channels(const CollectiveParams& params, const MachineView& machine);

}  // namespace switchfold
