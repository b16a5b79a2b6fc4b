// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

/// Settings that switchfold-capture passes to the library inside the program, by environment
/// variables.
namespace switchfold::capture {

constexpr const char* kDirectoryVariable = "SWITCHFOLD_CAPTURE_DIR";
constexpr const char* kCountersVariable = "SWITCHFOLD_CAPTURE_COUNTERS";
constexpr const char* kCuptiVariable = "SWITCHFOLD_CAPTURE_CUPTI";
constexpr std::string_view kSuffix = ".sfcapture";
/// Both libraries lie beside the program switchfold-capture.
constexpr std::string_view kLibrary = "libswitchfold-capture.so";
constexpr std::string_view kCuptiLibrary = "libswitchfold-capture-cupti.so";

/// The value of an environment variable, or empty.
using Environment = std::function<std::optional<std::string>(const std::string&)>;
[[nodiscard]] Environment process_environment();

struct Settings {
    std::string directory;
    bool counters = false;
    std::string cupti;  ///< path of libcupti, in case the loader finds none
    std::uint32_t rank = 0;
    std::uint32_t world_size = 1;
};

/// Empty if the process is not to be captured. The rank comes from the first of RANK (torchrun),
/// OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK, SLURM_PROCID and LOCAL_RANK that holds a number; the
/// number of ranks comes from the corresponding variable.
[[nodiscard]] std::optional<Settings> settings_from(const Environment& environment);

/// "rank3.sfcapture", or "rank3.counters.sfcapture" for a pass with counters.
[[nodiscard]] std::string file_name(const Settings& settings);

}  // namespace switchfold::capture
