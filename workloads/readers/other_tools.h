// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/json_beginning.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace switchfold {

/// Whether the file is a profile of JAX or TensorFlow. Its first bytes could also be Chakra's.
[[nodiscard]] bool is_xplane(std::string_view beginning);

/// What to tell a user about a file of another tool: "is an Nsight Systems report; expected its
/// export ...". Nothing if the first bytes, or the file's name where bytes say nothing, are of no
/// tool that is known.
[[nodiscard]] std::optional<std::string>
other_tool(const std::filesystem::path& file, std::string_view beginning);

/// The same for a file of JSON.
[[nodiscard]] std::optional<std::string>
other_tool_of_json(std::string_view beginning, const JsonBeginning& json);

/// The same for a database of SQLite.
[[nodiscard]] std::optional<std::string> other_tool_of_sqlite(std::string_view beginning);

}  // namespace switchfold
