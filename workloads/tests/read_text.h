// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error.h"
#include "workloads/readers/read_traces.h"
#include "workloads/tests/temporary_file.h"

#include <cstddef>
#include <string>
#include <variant>

namespace switchfold::test_data {

/// What is read from a trace file of this name and content.
inline TraceWorkload read_text(const std::string& name, const std::string& text) {
    const TemporaryFile file(name, text);
    TraceWorkload workload = read_traces({{file.path()}});
    check(workload.graph);
    return workload;
}

/// The error of a trace file of this name and content; "accepted" if there is none.
inline std::string error_of_text(const std::string& name, const std::string& text) {
    const TemporaryFile file(name, text);
    try {
        static_cast<void>(read_traces({{file.path()}}));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "accepted";
}

/// An operation of the first rank.
inline const CollectiveOperation& collective(const TraceWorkload& workload, std::size_t i) {
    return std::get<CollectiveOperation>(workload.graph.ranks[0]->operations[i].body);
}

}  // namespace switchfold::test_data
