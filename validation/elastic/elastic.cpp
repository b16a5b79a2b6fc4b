// SPDX-License-Identifier: Apache-2.0
#include "core/params_reader.h"
#include "validation/elastic/change_times.h"
#include "validation/elastic/device_sets.h"
#include "validation/elastic/division.h"
#include "validation/elastic/groups.h"
#include "validation/elastic/placements.h"
#include "validation/harness/data.h"
#include "validation/harness/suite.h"

#include <string_view>
#include <vector>

namespace switchfold::validation {

namespace {

constexpr std::string_view kReasons = "validation/maps/elastic.json";

bool is_of_one_gpu(const ElasticRow& row) {
    return row.quantity == "step_time";
}

}  // namespace

SuiteResult run_elastic(const SuiteOptions& options) {
    const Suite& suite = suite_named("elastic");
    const auto data = data_of(suite, options);
    if (!data)
        return skipped(suite);
    SuiteResult result;
    result.name = suite.name;
    const std::vector<ElasticRow> rows = read_elastic_rows(
        *data, read_params_file<TableMap>(options.root / kReasons), &result.unmatched);
    const Machines machines(options.root);
    compare_change_times(rows, machines, options, result);
    compare_device_sets(rows, machines, options, result);
    compare_placements(rows, machines, options, result);
    compare_groups(rows, machines, options, result);
    std::vector<OneGpuStep> one_gpu;
    for (const ElasticRow& row : rows)
        if (is_of_one_gpu(row))
            one_gpu.push_back({row.gpu, row.batch, row.value});
    if (!one_gpu.empty())
        add_division(one_gpu, result);
    for (const ElasticRow& row : rows)
        if (!row.why.empty())
            result.unmatched.push_back({row.id, row.why});
        else if (
            !is_of_one_gpu(row) && !is_change_time(row) && !is_of_device_set(row) &&
            !is_of_placement(row) && !is_of_groups(row))
            result.unmatched.push_back({row.id, "is of a quantity that no simulation answers"});
    return result;
}

}  // namespace switchfold::validation
