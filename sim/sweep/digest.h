// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/load.h"

#include <map>
#include <string>

namespace switchfold {

/// Identifies experiments by everything that their results depend on: the effective configuration
/// and the content of the workload's files (traces, table of layers). Reads each file once. Not
/// cryptographic (FNV-1a, 64 bits).
class DigestMaker {
public:
    /// Throws IoError if such a file cannot be read.
    [[nodiscard]] std::string of(const LoadedExperiment& loaded);

private:
    std::map<std::string, std::string> files_;  ///< path to hash of its bytes
};

}  // namespace switchfold
