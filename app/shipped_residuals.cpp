// SPDX-License-Identifier: Apache-2.0
#include "app/shipped_residuals.h"

#include "core/error.h"
#include "sim/intervals/residuals.h"
#include "validation/harness/root.h"

#include <filesystem>
#include <string>
#include <system_error>

namespace switchfold {

namespace {

constexpr const char* kResiduals = "validation/data/residuals.csv";

/// Empty without the folders that ship.
std::filesystem::path root() {
    try {
        return validation::find_root({});
    } catch (const ConfigError&) {
        return {};
    }
}

}  // namespace

std::filesystem::path residuals_file(const std::filesystem::path& root) {
    return root / kResiduals;
}

IntervalSource shipped_residuals() {
    const std::filesystem::path file = residuals_file(root());
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored))
        return {nullptr, std::string("no intervals: ") + kResiduals + " was not found"};
    return {std::make_shared<const intervals::Residuals>(intervals::Residuals::read(file)), {}};
}

}  // namespace switchfold
