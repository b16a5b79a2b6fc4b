// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "sim/output/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// The collective of a scenario, for workloads of a single one.
struct RecordedCollective {
    std::string algorithm;
    std::string protocol;
    std::string fallback;
    std::uint32_t channels = 0;
    std::uint32_t ranks = 0;
    std::uint64_t size_bytes = 0;
    double time_us = 0;
    double algorithm_bandwidth_GBps = 0;
    double bus_bandwidth_GBps = 0;
    FigureIntervals intervals = {};
};

/// The results of a scenario that a sweep stores.
struct RecordedScenario : ScenarioFigures {
    std::uint64_t collectives = 0;
    double collectives_us = 0;  ///< sum over all
    std::optional<RecordedCollective> collective;
};

/// Everything that depends on the host that ran it.
struct RecordedHost {
    std::string name;
    double wall_s = 0;
    std::uint64_t peak_rss_bytes = 0;
};

/// Result of a sweep's experiment.
struct RunRecord {
    std::string digest;
    int exit_code = 0;  ///< exit code of `switchfold run`
    std::string error;
    std::string machine;  ///< name of the system
    std::vector<RecordedScenario> scenarios;
    RecordedHost host;
};

/// One column of a stored scenario: name and type in the database, and functions that read its
/// value from a record and write it back; null if a scenario has none.
struct RecordColumn {
    std::string name;
    std::string_view type;
    std::function<Json(const RecordedScenario&)> get;
    std::function<void(RecordedScenario&, const Json&)> set;
};
/// All columns, in order; the workers' records, the database and its CSV are derived from them.
[[nodiscard]] std::vector<RecordColumn> record_columns();

/// The part of a result that a sweep stores, except digest, machine and host name.
[[nodiscard]] RunRecord record_of(const ExperimentResult& result);
/// Encodes a record for the way from a worker to its parent.
[[nodiscard]] std::string encode(const RunRecord& record);
/// Throws std::logic_error if the bytes are not a complete record.
[[nodiscard]] RunRecord decode_record(std::string_view bytes);

}  // namespace switchfold
