// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace switchfold::fuzz {

/// Readers of other tools' files: one fuzzer and one folder of the corpus each.
inline constexpr std::array<std::string_view, 10> kDoors{
    "msccl", "program",     "custom_collective", "nccl_topology", "nvidia_smi",
    "lspci", "tuner_table", "nccl_log",          "astra_sim",     "nccl_environment"};

/// Reads the bytes as a file of that kind, and does with it what the program does. \returns whether
/// they were one; false if they were refused as the user's error. Whatever else is thrown is a bug.
bool try_door(std::string_view door, std::string_view bytes);

}  // namespace switchfold::fuzz
