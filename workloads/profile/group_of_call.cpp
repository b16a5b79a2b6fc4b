// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/group_of_call.h"

#include "workloads/profile/kernel_traffic.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace switchfold {

std::uint32_t members_of_call(const RawTrace& raw, const OperatorKind& call) {
    const std::string_view name = raw.texts[call.name];
    const bool gathers = name == "c10d::_allgather_base_";
    if (!gathers && name != "c10d::_reduce_scatter_base_")
        return 0;
    // Both take their output first, then their input (PyTorch, c10d/Ops.cpp).
    const std::vector<TensorShape> tensors =
        parse_shapes(raw.texts[call.input_dims], raw.texts[call.input_types]);
    if (tensors.size() < 2)
        return 0;
    const std::uint64_t all = tensors[gathers ? 0 : 1].elements();
    const std::uint64_t share = tensors[gathers ? 1 : 0].elements();
    if (share == 0 || all % share != 0)
        return 0;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(all / share, UINT32_MAX));
}

}  // namespace switchfold
