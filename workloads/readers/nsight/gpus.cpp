// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/nsight/gpus.h"

#include <algorithm>

namespace switchfold::nsight {

Gpus::Gpus(const Database& database) {
    if (!database.has("TARGET_INFO_GPU"))
        return;
    Rows rows = database.rows(
        "TARGET_INFO_GPU", {{"id"},
                            {"name"},
                            {"totalMemory", false},
                            {"smCount", false},
                            {"cuDevice", false},
                            {"memoryBandwidth", false}});
    while (rows.next()) {
        const std::uint64_t id = rows.needed(0);
        Gpu& gpu = gpus_[id];
        gpu.name = rows.text(1).value_or("");
        gpu.memory = rows.if_known(2).value_or(0);
        gpu.sms = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(rows.if_known(3).value_or(0), UINT32_MAX));
        gpu.bandwidth = static_cast<double>(rows.if_known(5).value_or(0));
        if (const auto device = rows.if_known(4))
            by_device_.emplace(*device, id);
    }
    if (!database.has("TARGET_INFO_CUDA_DEVICE"))
        return;
    Rows devices =
        database.rows("TARGET_INFO_CUDA_DEVICE", {{"gpuId"}, {"cudaId"}, {"pid", false}});
    while (devices.next()) {
        const std::uint64_t id = devices.needed(0);
        const std::uint64_t device = devices.needed(1);
        by_device_.emplace(device, id);
        if (const auto process = devices.if_known(2))
            by_process_[{*process, device}] = id;
    }
}

Gpu Gpus::of(std::uint64_t device, std::uint64_t process) const {
    std::uint64_t id = device;
    if (const auto own = by_process_.find({process, device}); own != by_process_.end())
        id = own->second;
    else if (const auto any = by_device_.find(device); any != by_device_.end())
        id = any->second;
    const auto gpu = gpus_.find(id);
    return gpu == gpus_.end() ? Gpu{} : gpu->second;
}

}  // namespace switchfold::nsight
