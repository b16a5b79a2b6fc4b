// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/json.h"
#include "sim/output/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// The one collective that a scenario ran, where the workload is a single one.
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
};

/// What a sweep keeps of a scenario.
struct RecordedScenario : ScenarioFigures {
    std::uint64_t collectives = 0;
    double collectives_us = 0;  ///< of all of them together
    std::optional<RecordedCollective> collective;
};

/// What depends on the machine that ran it, and on nothing else.
struct RecordedHost {
    std::string name;
    double wall_s = 0;
    std::uint64_t peak_rss_bytes = 0;
};

/// How an experiment of a sweep ended.
struct RunRecord {
    std::string digest;
    int exit_code = 0;  ///< as of `switchfold run`
    std::string error;
    std::string machine;  ///< the system's name
    std::vector<RecordedScenario> scenarios;
    RecordedHost host;
};

/// One column of what a sweep keeps of a scenario: its name and type in the database, and how a
/// value gets out of a record and in again; null where a scenario has none.
struct RecordColumn {
    std::string name;
    std::string_view type;
    std::function<Json(const RecordedScenario&)> get;
    std::function<void(RecordedScenario&, const Json&)> set;
};
/// All of them, in order: the workers' records, the database and its CSV list them from here.
[[nodiscard]] std::vector<RecordColumn> record_columns();

/// What a sweep keeps of a result; digest, machine and host's name are the caller's to fill in.
[[nodiscard]] RunRecord record_of(const ExperimentResult& result);
/// Bytes that carry a record from a worker to its parent.
[[nodiscard]] std::string encode(const RunRecord& record);
/// Throws std::logic_error if they are not a whole record.
[[nodiscard]] RunRecord decode_record(std::string_view bytes);

}  // namespace switchfold
