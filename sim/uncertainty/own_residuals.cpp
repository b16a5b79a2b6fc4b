// SPDX-License-Identifier: Apache-2.0
#include "sim/uncertainty/own_residuals.h"

#include "sim/intervals/residuals.h"

#include <system_error>
#include <utility>

namespace switchfold {

std::filesystem::path own_residuals_file(std::filesystem::path system) {
    return system.replace_extension(".residuals.csv");
}

IntervalSource
with_own_residuals(const IntervalSource& source, const std::filesystem::path& system) {
    if (!source.residuals || system.empty())
        return source;
    const std::filesystem::path file = own_residuals_file(system);
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored))
        return source;
    IntervalSource out = source;
    out.residuals = std::make_shared<const intervals::Residuals>(
        source.residuals->with_own(intervals::Residuals::read(file).all()));
    return out;
}

}  // namespace switchfold
