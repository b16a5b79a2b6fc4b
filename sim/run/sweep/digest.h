// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/load.h"

#include <map>
#include <string>

namespace switchfold {

/// Names experiments by all that their results depend on: the effective configuration and what is
/// in the files of the workload, traces or a table of layers. Reads each file once. Names things,
/// guards nothing (FNV-1a, 64 bits).
class DigestMaker {
public:
    /// Throws IoError if such a file cannot be read.
    [[nodiscard]] std::string of(const LoadedExperiment& loaded);

private:
    std::map<std::string, std::string> files_;  ///< path to digest of its bytes
};

}  // namespace switchfold
