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
/// Whether it names a pass of a network divided by layers: "F0@lstm.1", or a part of it, "F0@lstm.1
/// 3/20", or a rank's update, U0. Such passes are too many for a chart.
[[nodiscard]] bool is_pass_of_a_layer(std::string_view text);

/// A pass with its times.
struct ChartPass {
    std::uint32_t rank = 0;
    PassName name;
    std::uint64_t start_ps = 0;
    std::uint64_t end_ps = 0;
};

/// A bar of the chart.
struct ScheduleBar {
    ChartPass pass;
    std::uint32_t chunk = 0;  ///< index of its stage among those of the rank, from 0
    bool beside = false;      ///< another pass of the rank runs concurrently
};

/// The chart of a pipeline: one row per rank, with its passes from left to right.
struct ScheduleChart {
    std::vector<std::uint32_t> ranks;  ///< of the rows, ascending
    std::uint32_t alike = 0;           ///< omitted ranks that run the same passes as an earlier one
    std::uint32_t others = 0;          ///< ranks omitted to limit the rows
    std::uint32_t chunks = 1;          ///< most stages of a rank
    bool cut = false;                  ///< only the first passes are shown
    std::vector<ScheduleBar> bars;     ///< row by row, by start
};

/// Rows beyond the limit are omitted evenly, keeping the first and the last. If rows have too many
/// passes, all rows show the passes that begin before any row exceeds its limit.
struct ScheduleChartLimits {
    std::size_t rows = 16;
    std::size_t passes = 200;  ///< per row
};

/// \pre passes are ordered by rank, then by issue; ranks with equal passes are recognised by that
/// order.
[[nodiscard]] ScheduleChart
schedule_chart(const std::vector<ChartPass>& passes, const ScheduleChartLimits& limits = {});

}  // namespace switchfold
