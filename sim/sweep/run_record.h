// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "sim/output/figure_record.h"
#include "sim/output/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// The results of a scenario that a sweep stores.
struct RecordedScenario : ScenarioFigures {
    std::uint64_t collectives = 0;
    double collectives_us = 0;                   ///< sum over all
    std::optional<CollectiveResult> collective;  ///< for workloads of a single one
};

template <>
struct RecordFields<RecordedScenario> {
    static constexpr auto list() {
        using S = RecordedScenario;
        return list_of(
            member("scenario", &S::name).as_column("scenario"),
            member("overlap", &S::overlap).as_column("overlap"), FigureMembers(),
            member("intervals", &S::intervals), CausesByPhase(),
            member("collectives", &S::collectives).as_column("collectives"),
            member("collectives_us", &S::collectives_us).as_column("collectives_us"),
            member("events", &S::events).as_column("events"), member("collective", &S::collective));
    }
};

/// Everything that depends on the host that ran it.
struct RecordedHost {
    std::string name;
    double wall_s = 0;
    std::uint64_t peak_rss_bytes = 0;

    static constexpr auto fields() {
        using H = RecordedHost;
        return list_of(
            member("name", &H::name), member("wall_s", &H::wall_s),
            member("peak_rss_bytes", &H::peak_rss_bytes));
    }
};

/// Result of a sweep's experiment. It travels as value_bytes().
struct RunRecord {
    std::string digest;
    int exit_code = 0;  ///< exit code of `switchfold run`
    std::string error;
    std::string machine;  ///< name of the system
    std::vector<RecordedScenario> scenarios;
    RecordedHost host;

    static constexpr auto fields() {
        using R = RunRecord;
        return list_of(
            member("digest", &R::digest), member("exit_code", &R::exit_code),
            member("error", &R::error), member("machine", &R::machine),
            member("scenarios", &R::scenarios), member("host", &R::host));
    }
};

/// One column of a stored scenario: name and type in the database, and a function that reads its
/// value from a record; null if a scenario has none.
struct RecordColumn {
    std::string name;
    std::string_view type;
    std::function<Json(const RecordedScenario&)> get;
};
/// All columns, in order: members of the records that name a column, figures, their intervals, and
/// causes. The database and its CSV are derived from them.
[[nodiscard]] std::vector<RecordColumn> record_columns();

/// The part of a result that a sweep stores, except digest, machine and host name.
[[nodiscard]] RunRecord record_of(const ExperimentResult& result);

}  // namespace switchfold
