// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// What a collective runs as, in NCCL's words.
struct NcclChosen {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    std::uint64_t bytes = 0;
    std::string algorithm;       ///< TREE, RING, COLLNET_DIRECT, NVLS, NVLS_TREE
    std::string protocol;        ///< LL, LL128, SIMPLE
    std::uint32_t channels = 0;  ///< 0: a log does not say
    auto operator<=>(const NcclChosen&) const = default;
};

/// A system and its policies under NCCL's environment.
struct NcclSetting {
    SystemParams system;
    CollectivePolicies policies;
    std::vector<std::string> notes;  ///< of the reading
};
/// `variables` of the environment; what they change of the system is changed, after `overrides` of
/// it. Paths are relative to `folder`. Throws ConfigError.
[[nodiscard]] NcclSetting nccl_setting(
    const std::filesystem::path& system, const std::map<std::string, std::string>& variables,
    const std::filesystem::path& folder, std::vector<Override> overrides = {});

/// What a call over these ranks would run as, without simulating it.
[[nodiscard]] NcclChosen nccl_choice(
    const NcclSetting& setting, const std::vector<std::uint32_t>& ranks, CollectiveKind kind,
    std::uint64_t bytes);

/// The choices over all GPUs from 1 KiB to 4 GiB, as NCCL's own log writes them (NCCL_DEBUG=INFO,
/// NCCL_DEBUG_SUBSYS=TUNING).
[[nodiscard]] std::string nccl_log_of(const NcclSetting& setting);

/// NCCL's word for a collective; empty if it is none of those that a log tells of.
[[nodiscard]] std::string_view nccl_function(CollectiveKind kind);

/// What a log of NCCL's says (NCCL_DEBUG=INFO).
struct NcclLog {
    std::string version;
    std::uint32_t ranks = 0;  ///< 0: it does not say
    std::uint32_t nodes = 0;
    std::map<std::string, std::string> environment;  ///< set by it
    std::vector<NcclChosen> choices;  ///< each kind, size and way once, as first told
    /// Lines of older NCCL do not name the collective. It is that of the call before, if those were
    /// logged too (NCCL_DEBUG_SUBSYS=COLL), otherwise an all-reduce.
    bool unnamed = false;
};
/// Whether a file that begins so is one.
[[nodiscard]] bool is_nccl_log(std::string_view beginning);
/// Throws ConfigError.
[[nodiscard]] NcclLog read_nccl_log(const std::filesystem::path& file);

/// What the log chose beside what is chosen on a system of ours, with its environment.
[[nodiscard]] std::string compare_nccl_log(const NcclLog& log, const std::filesystem::path& system);
/// What it says by itself.
[[nodiscard]] std::string describe_nccl_log(const NcclLog& log);

}  // namespace switchfold
