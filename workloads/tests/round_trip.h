// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/trace_format/trace_file.h"
#include "workloads/tests/trace_file.h"

#include <gtest/gtest.h>

namespace switchfold::test_data {

/// Writes the workload in switchfold's own format and reads it back.
inline TraceWorkload again(const TraceWorkload& workload, const std::string& name = "trace.swt") {
    const TemporaryFile file(name, "");
    write_trace(workload, file.path(), "test");
    return read_trace(file.path());
}

inline void expect_same(const TraceWorkload& a, const TraceWorkload& b) {
    EXPECT_EQ(a.graph.names, b.graph.names);
    EXPECT_EQ(a.graph.groups, b.graph.groups);
    EXPECT_EQ(a.graph.exchanges, b.graph.exchanges);
    EXPECT_EQ(a.graph.steps, b.graph.steps);
    EXPECT_EQ(a.graph.provenance, b.graph.provenance);
    ASSERT_EQ(a.graph.ranks.size(), b.graph.ranks.size());
    for (std::size_t r = 0; r < a.graph.ranks.size(); ++r)
        EXPECT_TRUE(*a.graph.ranks[r] == *b.graph.ranks[r]) << "rank " << r;
    EXPECT_EQ(a.measured, b.measured);
    for (std::size_t f = 0; f < a.files.size(); ++f) {
        EXPECT_EQ(a.files[f].format, b.files[f].format);
        EXPECT_EQ(a.files[f].dropped, b.files[f].dropped);
        EXPECT_EQ(a.files[f].used, b.files[f].used);
        EXPECT_EQ(a.files[f].sizes, b.files[f].sizes);
        EXPECT_EQ(a.files[f].streams, b.files[f].streams);
        EXPECT_EQ(a.files[f].warnings, b.files[f].warnings);
    }
}

}  // namespace switchfold::test_data
