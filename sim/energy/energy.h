// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/energy/power_params.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// Joules, and the interval in which they are expected.
struct Joules {
    double value = 0;
    double low = 0;
    double high = 0;
    Joules& operator+=(const Joules& other) {
        value += other.value;
        low += other.low;
        high += other.high;
        return *this;
    }
};

/// What a step's energy goes into.
enum class EnergyPart : std::uint8_t {
    kIdle,           ///< of the GPUs, for the whole step
    kKernels,        ///< SMs, for kernels
    kCommunication,  ///< SMs, for blocks of collectives
    kMemory,
    kGpuLinks,
    kPcie,
    kNetwork
};
inline constexpr std::size_t kEnergyParts = 7;
struct EnergyPartText {
    EnergyPart part;
    std::string_view key;    ///< in JSON
    std::string_view title;  ///< of a table's column
};
inline constexpr std::array<EnergyPartText, kEnergyParts> kEnergyPartTexts{
    {{EnergyPart::kIdle, "idle", "idle"},
     {EnergyPart::kKernels, "kernels", "kernels"},
     {EnergyPart::kCommunication, "communication", "collectives"},
     {EnergyPart::kMemory, "memory", "memory"},
     {EnergyPart::kGpuLinks, "gpu_links", "GPU links"},
     {EnergyPart::kPcie, "pcie", "PCIe"},
     {EnergyPart::kNetwork, "network", "network"}}};

/// A GPU's work in one step.
struct GpuStepWork {
    std::string gpu;           ///< name of its kind
    double dense_seconds = 0;  ///< isolated time of kernels of dense classes
    double other_seconds = 0;  ///< of all others
    double communication_sms =
        0;                        ///< SMs held by collectives' blocks, share of all, mean over time
    double kernel_bytes = 0;      ///< from and to the GPU's memory, by kernels
    double packet_bytes_low = 0;  ///< by communication and copies: at least
    double packet_bytes_high = 0;  ///< at most
};

/// A step of a scenario.
struct StepWork {
    std::string scenario;
    double seconds = 0;
    std::vector<GpuStepWork> gpus;  ///< by rank
    double gpu_link_bytes = 0;      ///< bytes on wires, each direction of each link
    double pcie_bytes = 0;
    double network_bytes = 0;
    /// Of the switches' reduction units, an estimate from published numbers (unit_cost.h); none
    /// without units. Part of no sum: what a switch takes is in what its links take.
    Joules units{};
    Joules units_mm2{};  ///< their area; neither has a value in the middle
};

struct StepEnergy {
    std::string scenario;
    double seconds = 0;
    std::size_t gpus = 0;
    std::array<Joules, kEnergyParts> parts;
    Joules units{};  ///< as StepWork has them
    Joules units_mm2{};
    [[nodiscard]] const Joules& part(EnergyPart which) const {
        return parts[static_cast<std::size_t>(which)];
    }
    [[nodiscard]] Joules sum() const;
    /// Mean power of one GPU with its memory, in watts: all but the links.
    [[nodiscard]] Joules gpu_watts() const;
};

/// Throws ConfigError, which names the `file` of the numbers, for a GPU that has none.
[[nodiscard]] StepEnergy
energy_of(const StepWork& work, const PowerParams& power, const std::string& file);

}  // namespace switchfold
