// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/calibrate/points.h"
#include "validation/harness/suite.h"

#include <filesystem>
#include <string>
#include <vector>

namespace switchfold::validation {

/// What a user gives to calibrate a system with.
struct CalibrationData {
    std::filesystem::path system;
    std::filesystem::path root;                ///< the repository
    std::vector<std::filesystem::path> files;  ///< logs of nccl-tests, tables
    std::vector<std::string> tables;  ///< names (a star for any text) of tables of collectives
    std::vector<std::filesystem::path> traces;
    std::uint64_t largest = 256ULL << 20U;  ///< collectives' size in bytes; larger ones only slow
    std::size_t most = 128;                 ///< points to fit
};

struct Observations {
    std::vector<CalibrationPoint> points;  ///< divided
    std::vector<Unmatched> left_out;       ///< rows that are of no use, and why
    std::vector<std::string> notes;
    std::vector<std::string> sources;  ///< "FILE" or "TABLE of FILE", for what is written
    std::size_t rows = 0;              ///< that the points stand for
};

/// Reads all of it. Throws ConfigError if a file cannot be read, or nothing in them is of this
/// machine.
[[nodiscard]] Observations observe(const CalibrationData& data);

}  // namespace switchfold::validation
