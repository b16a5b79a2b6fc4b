// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace switchfold::validation {

/// A folder with trace files of one run.
struct TraceFolder {
    std::string name;
    std::filesystem::path path;
    std::vector<std::filesystem::path> files;  ///< .json and .json.gz, sorted
};

/// The folders below `data` that hold .json or .json.gz files, sorted by name; `data` itself if it
/// holds some.
[[nodiscard]] std::vector<TraceFolder> trace_folders(const std::filesystem::path& data);

/// The traces of a folder that are used together.
struct FolderTrace {
    std::string id;                            ///< FOLDER/rank3 or FOLDER/all ranks
    std::vector<std::filesystem::path> files;  ///< all ranks, or the lowest one there is
    std::string gpu_name;
    std::uint32_t world = 1;
};

/// Reads what is a Kineto trace in the folder. Throws ConfigError with the reason of each file if
/// none can be read.
[[nodiscard]] FolderTrace read_folder(const TraceFolder& folder);

}  // namespace switchfold::validation
