// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace switchfold {

constexpr std::uint32_t kMostDescribedGpus = 1024;
constexpr std::uint32_t kMostDescribedLanes = 1024;  ///< of a pair

/// NVLinks from one GPU to another, or to a switch.
struct DescribedLink {
    std::uint32_t gpu = 0;
    std::uint32_t to = 0;  ///< a GPU, or a switch, in the order of their bus addresses
    std::uint32_t lanes = 0;
};

/// What a machine's own tools say of it.
struct DescribedMachine {
    std::vector<std::string> gpus;  ///< names, as their device or the file says; empty: unknown
    std::vector<DescribedLink> to_gpus;
    std::vector<DescribedLink> to_switches;
    std::uint32_t switches = 0;       ///< 0 with to_switches: it does not tell them apart
    bool switches_hidden = false;     ///< links to GPUs may go by switches
    std::uint32_t hosts = 0;          ///< processors that GPUs hang on; 0: unknown
    std::uint32_t pcie_switches = 0;  ///< that equal parts of the GPUs share; 0: unknown, or none
    std::vector<double> nics;         ///< of network interfaces: bits a second; 0: unknown
    bool amd_host = false;
    std::vector<std::string> notes;  ///< what could not be told
};

/// NCCL's topology (NCCL_TOPO_DUMP_FILE). Throws ConfigError.
[[nodiscard]] DescribedMachine read_nccl_topology(const std::filesystem::path& file);
/// The matrix of `nvidia-smi topo -m`. Throws ConfigError.
[[nodiscard]] DescribedMachine read_nvidia_smi_topology(const std::filesystem::path& file);
/// Adds the GPUs' names from `lspci`, with -nn or without. Throws ConfigError.
void add_lspci(DescribedMachine& machine, const std::filesystem::path& file);
/// The name of a GPU's PCI device, as torch prints it; empty: not known.
[[nodiscard]] std::string gpu_of_device(std::uint32_t device);

}  // namespace switchfold
