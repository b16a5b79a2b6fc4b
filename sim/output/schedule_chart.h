// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// A pass by its name: "F3@1" is the forward of micro-batch 3 on stage 1.
struct PassName {
    std::string kind;  ///< "F", "BW", "B", "W" or "U"
    std::uint32_t micro_batch = 0;
    std::uint32_t stage = 0;
};
/// \returns nothing if the text names no pass.
[[nodiscard]] std::optional<PassName> parse_pass_name(std::string_view text);
[[nodiscard]] std::string to_string(const PassName& name);

/// A pass that ran.
struct TimedPass {
    std::uint32_t rank = 0;
    PassName name;
    std::uint64_t start_ps = 0;
    std::uint64_t end_ps = 0;
};

/// A bar of the chart.
struct ScheduleBar {
    TimedPass pass;
    std::uint32_t chunk = 0;  ///< number of its stage among those of the rank, from 0
    bool beside = false;      ///< another pass of the rank runs at the same time
};

/// The chart of a pipeline: a row a rank, the passes of it from left to right.
struct ScheduleChart {
    std::vector<std::uint32_t> ranks;  ///< of the rows, ascending
    std::uint32_t alike = 0;        ///< ranks left out that run the same passes as an earlier one
    std::uint32_t others = 0;       ///< ranks left out because there are too many rows
    std::uint32_t chunks = 1;       ///< stages of the rank that holds most
    bool cut = false;               ///< only the first passes are there
    std::vector<ScheduleBar> bars;  ///< row by row, by start
};

/// Rows beyond the limit are left out evenly, first and last stay; of longer rows all passes are
/// shown that begin before one of the rows has had as many as it may.
struct ScheduleChartLimits {
    std::size_t rows = 16;
    std::size_t passes = 200;  ///< a row
};

/// Passes come rank by rank in the order of their issue, by which ranks that do the same are known.
[[nodiscard]] ScheduleChart
schedule_chart(const std::vector<TimedPass>& passes, const ScheduleChartLimits& limits = {});

}  // namespace switchfold
