// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/statistics_record.h"
#include "sim/output/figure_record.h"
#include "sim/output/result.h"

#include <string>
#include <vector>

namespace switchfold {

template <>
struct RecordFields<ScenarioResult> {
    static constexpr auto list() {
        using S = ScenarioResult;
        return list_of(
            member("name", &S::name), member("overlap", &S::overlap),
            // Only if a scenario differs from the experiment.
            member("set", &S::set, Form::kJsonText).if_any(),
            member("workload", &S::workload).if_any(), FigureMembers(),
            member("intervals", &S::intervals, Form::kMicro).if_any(),
            member("peak_memory", &S::peak_memory), member("slowdown_by_cause", &S::causes),
            CausesByPhase(), member("with_ranks_together", &S::together),
            member("kernel_classes", &S::kernel_classes),
            member("worst_kernels", &S::worst_kernels), member("notes", &S::notes),
            member("learning", &S::learning).if_any(), member("run", &S::changes).if_any(),
            member("collectives", &S::collectives));
    }
};

/// The scenarios, each with the rows of its statistics, and the legend of these: kinds and columns,
/// common to all scenarios.
struct ScenariosAndLegend {
    void write(const ExperimentResult& result, OrderedJson& out) const;
    void read(const JsonNode& node, ExperimentResult& result) const;
    void describe(PythonTypes& types, PythonRecord& record) const {
        record.always.emplace_back("scenarios", types.type<std::vector<ScenarioResult>>());
        record.always.emplace_back("statistics", types.type<std::vector<StatisticTable>>());
    }
};

/// Which program's results these are. Another program's are refused.
struct SchemaOfResult {
    void write(const ExperimentResult& result, OrderedJson& out) const;
    void read(const JsonNode& node, ExperimentResult& result) const;
    void describe(PythonTypes& /*types*/, PythonRecord& record) const {
        record.always.emplace_back("schema", "str");
    }
};

template <>
struct RecordFields<ExperimentResult> {
    static constexpr auto list() {
        using R = ExperimentResult;
        return list_of(
            SchemaOfResult(), member("experiment", &R::experiment), member("version", &R::version),
            member("config_digest", &R::config_digest), member("workload", &R::workload),
            ScenariosAndLegend(), member("host", &R::host));
    }
};

/// A Python module with the types of result.json.
[[nodiscard]] std::string python_result_types();

}  // namespace switchfold
