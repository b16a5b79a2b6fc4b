// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace switchfold::rocprof {

/// An agent of ROCm: a GPU or a CPU.
struct Agent {
    bool gpu = false;
    std::string name;
    std::uint64_t memory_bytes = 0;
    std::uint32_t compute_units = 0;
    std::uint64_t node = 0;  ///< orders the GPUs of a machine
};

/// A kernel as its code object describes it.
struct Symbol {
    std::string name;
    std::uint32_t registers = 0;  ///< vector registers of a work item
};

}  // namespace switchfold::rocprof
