// SPDX-License-Identifier: Apache-2.0
#include "validation/overlap/contention_data.h"

#include "core/params_reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold::validation {

void KernelAlone::check(ParamChecker& checker) const {
    const auto check_sizes = [&](const char* key, const std::vector<std::uint32_t>& sizes) {
        if (sizes.size() != 3 || std::find(sizes.begin(), sizes.end(), 0U) != sizes.end())
            checker.error(
                fmt::format("/{}", key),
                fmt::format("is [{}]; expected three sizes from 1", fmt::join(sizes, ", ")));
    };
    check_sizes("grid", grid);
    check_sizes("block", block);
    if (bytes_read.has_value() != bytes_written.has_value())
        checker.error("/bytes_read", "is there without its like; expected both counters or none");
}

void NetworkContention::check(ParamChecker& checker) const {
    for (std::size_t r = 0; r < runs.size(); ++r)
        for (std::size_t k = 0; k < runs[r].kernels.size(); ++k)
            if (runs[r].kernels[k].kernel >= kernels.size())
                checker.error(
                    fmt::format("/runs/{}/kernels/{}/kernel", r, k),
                    fmt::format(
                        "is {} of {} kernels; expected the place of one", runs[r].kernels[k].kernel,
                        kernels.size()));
}

void ContentionData::check(ParamChecker& checker) const {
    if (schema != kSchema)
        checker.error("/schema", fmt::format("is \"{}\"; expected \"{}\"", schema, kSchema));
}

ContentionData read_contention(const std::filesystem::path& file) {
    return read_params_file<ContentionData>(file);
}

}  // namespace switchfold::validation
