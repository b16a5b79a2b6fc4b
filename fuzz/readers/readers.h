// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace switchfold::fuzz {

/// One fuzzer, one corpus folder and one dictionary each.
inline constexpr std::array<std::string_view, 14> kReaders{"kineto",         "own",
                                                           "nsight",         "chakra",
                                                           "nccl_tests",     "nccl_json",
                                                           "nccl_inspector", "flight_recorder",
                                                           "rocprof",        "execution_trace",
                                                           "capture",        "layer_table",
                                                           "profile_graph",  "kernel_table"};

/// Reads the bytes as a file of this kind. \returns whether they were accepted; false if they were
/// rejected as a user error. Any other exception is a bug. An accepted workload must also pass all
/// analyses and a round trip through switchfold's own format.
bool try_reader(std::string_view reader, std::string_view bytes);

}  // namespace switchfold::fuzz
