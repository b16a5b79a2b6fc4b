// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"
#include "sim/config/workload_names.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <string_view>

namespace switchfold {

class WorkloadKind;

/// A single collective.
struct CollectiveWorkloadParams {
    static constexpr std::string_view kType = "collective";
    CollectiveKind collective = CollectiveKind::kAllReduce;
    Bytes size = mebibytes(256);
    Datatype datatype = Datatype::kFloat32;
    std::uint32_t ranks = 0;
    static constexpr auto fields() {
        return list_of(
            field("collective", &CollectiveWorkloadParams::collective, "Kind of the collective."),
            field(
                "size", &CollectiveWorkloadParams::size,
                "Payload of one rank, as nccl-tests counts it.", Bytes(1), Bytes(1ULL << 40U))
                .required(),
            field("datatype", &CollectiveWorkloadParams::datatype, "Type of its elements."),
            field(
                "ranks", &CollectiveWorkloadParams::ranks,
                "Participating GPUs, from rank 0; 0: all.", 0U, 65'536U));
    }
};

[[nodiscard]] const WorkloadKind& kind_of(const CollectiveWorkloadParams& params);

}  // namespace switchfold
