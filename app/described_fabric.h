// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/described_machine.h"
#include "sim/config/system_params.h"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// How the GPUs of a machine are joined.
enum class Fabric { kSwitched, kMesh, kDirect, kPcie };

[[nodiscard]] std::string_view words_of(Fabric fabric);

/// A shipped system that a machine's may stand on.
struct Base {
    std::filesystem::path file;
    SystemParams system;

    /// Whether machines so joined may stand on it; bridges between cards can be left out.
    [[nodiscard]] bool is_of(Fabric fabric) const;
};

/// By the machine's links. `systems` are those with its GPUs: nvidia-smi does not say whether
/// switches are between.
[[nodiscard]] Fabric
fabric_of(const DescribedMachine& machine, std::span<const Base* const> systems);

/// What the description says of the topology, beyond the number of GPUs: lines "KEY": VALUE. Adds
/// to `notes` what it says and `base` cannot have. Throws ConfigError, which names `from`.
[[nodiscard]] std::vector<std::string> links_told(
    const DescribedMachine& machine, Fabric fabric, const Base& base, const std::string& from,
    std::vector<std::string>& notes);

}  // namespace switchfold
