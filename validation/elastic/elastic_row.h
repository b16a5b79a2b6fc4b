// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::validation {

/// A row of elastic.csv (docs/validation.md lists the columns read).
struct ElasticRow {
    std::string id;
    std::string source;
    std::string gpu;
    std::string interconnect;
    std::string model;
    std::string change;
    std::string placement;
    std::string phase;
    std::string quantity;
    std::string unit;
    std::string kind;
    std::string note;
    std::uint32_t gpus = 0;  ///< 0: not stated
    std::uint32_t nodes = 0;
    std::uint32_t from_gpus = 0;
    std::uint32_t to_gpus = 0;
    std::uint32_t batch = 0;
    double value = 0;  ///< NaN if it is not a number
};

/// A network of recurrent layers, and why none of its rows is compared.
inline constexpr std::string_view kRecurrent = "DeepSpeech2";
inline constexpr const char* kNoUtterances =
    "states no length of its utterances, by which the time of recurrent layers goes";

/// Throws ConfigError "file: line N: ..." with all problems.
[[nodiscard]] std::vector<ElasticRow>
read_elastic_rows(const std::filesystem::path& path, std::vector<Unmatched>* unread = nullptr);

}  // namespace switchfold::validation
