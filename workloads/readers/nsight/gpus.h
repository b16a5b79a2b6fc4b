// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/nsight/database.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace switchfold::nsight {

/// What a report states about a GPU; zeros and an empty name if it states nothing.
struct Gpu {
    std::string name;
    std::uint64_t memory = 0;  ///< bytes
    std::uint32_t sms = 0;
    double bandwidth = 0;  ///< of its memory, bytes per second
};

/// The GPUs of a report (TARGET_INFO_GPU). The GPU that a process calls device 0 depends on its
/// CUDA_VISIBLE_DEVICES: newer exports state it in TARGET_INFO_CUDA_DEVICE or in a column cuDevice;
/// for older ones device numbers and GPU numbers are assumed to be equal.
class Gpus {
public:
    explicit Gpus(const Database& database);
    [[nodiscard]] Gpu of(std::uint64_t device, std::uint64_t process) const;

private:
    std::map<std::uint64_t, Gpu> gpus_;  ///< by GPU id
    std::map<std::uint64_t, std::uint64_t> by_device_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>
        by_process_;  ///< by process and device
};

}  // namespace switchfold::nsight
