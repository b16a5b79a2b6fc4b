// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace switchfold::fuzz {

/// One fuzzer, one folder of the corpus and one dictionary each.
inline constexpr std::array<std::string_view, 10> kReaders{
    "kineto",
    "own",
    "nsight",
    "chakra",
    "nccl_tests",
    "execution_trace",
    "capture",
    "layer_table",
    "profile_graph",
    "kernel_table"};

/// Reads the bytes as a file of that kind. \returns whether they were one; false if they were
/// refused as the user's error. Whatever else is thrown is a bug. A workload must also come through
/// all that looks at it, and through our own format.
bool try_reader(std::string_view reader, std::string_view bytes);

}  // namespace switchfold::fuzz
