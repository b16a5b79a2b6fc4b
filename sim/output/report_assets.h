// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// A part of a report's page: "page", "style" or a script. scripts/make_report_assets.py generates
/// the file with them during the build.
struct ReportAsset {
    std::string_view name;
    std::string_view text;
};
[[nodiscard]] std::vector<ReportAsset> report_assets();
/// Why the chart libraries are missing; empty if they are included.
[[nodiscard]] std::string report_assets_missing();

}  // namespace switchfold
