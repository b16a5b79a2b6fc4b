// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// A part of a report's page: "page", "style", the scripts. scripts/make_report_assets.py writes
/// the file that holds them when the simulator is built.
struct ReportAsset {
    std::string_view name;
    std::string_view text;
};
[[nodiscard]] std::vector<ReportAsset> report_assets();
/// Why the chart libraries are not among them; empty if they are.
[[nodiscard]] std::string report_assets_missing();

}  // namespace switchfold
