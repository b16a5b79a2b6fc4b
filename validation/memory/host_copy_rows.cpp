// SPDX-License-Identifier: Apache-2.0
#include "validation/memory/host_copy_rows.h"

#include "sim/config/load.h"
#include "sim/machine/host_copy_rates.h"
#include "validation/harness/number_jobs.h"

#include <algorithm>
#include <string_view>

namespace switchfold::validation {

namespace {

constexpr double kRates = 0.10;
constexpr std::string_view kRead = "host_read";
constexpr std::string_view kDuplex = "duplex_factor";

/// Of 256 MiB on as many GPUs as the row's map says.
double simulated(const MemoryRow& row, const SystemParams& system) {
    const auto gpus = row.values.find("/gpus")->get<std::uint32_t>();
    const Bytes bytes = mebibytes(256);
    const double one_way = host_copy_rates(system, {gpus, bytes, Bytes(0)}).to_device;
    return row.rule == kRead ? one_way * 1e-9
                             : host_copy_rates(system, {gpus, bytes, bytes}).both / (2 * one_way);
}

}  // namespace

std::vector<std::string> compare_host_copies(
    const std::vector<MemoryRow>& rows, const SuiteOptions& options, SuiteResult& result) {
    std::vector<const MemoryRow*> compared;
    std::vector<NumberJob> jobs;
    std::vector<SystemParams> systems;
    for (const MemoryRow& row : rows)
        if (row.known && (row.rule == kRead || row.rule == kDuplex)) {
            compared.push_back(&row);
            systems.push_back(
                load_system(options.root / row.values.find("/system")->get<std::string>(), {}));
        }
    for (std::size_t i = 0; i < compared.size(); ++i)
        jobs.push_back({compared[i]->id, [&, i](const JobProgress&) {
                            return simulated(*compared[i], systems[i]);
                        }});
    const std::vector<double> found = run_number_jobs(jobs, options);
    std::vector<std::string> answered;
    double worst = 0;
    for (std::size_t i = 0; i < compared.size(); ++i) {
        const MemoryRow& row = *compared[i];
        Case c;
        c.id = row.id;
        c.group = "copies between GPUs and their host";
        c.quantity = row.quantity;
        c.unit = row.unit;
        c.measured = row.value;
        c.simulated = found[i];
        c.fitted = row.values.find("/fitted") != nullptr;
        c.how = systems[i].name;
        worst = std::max(worst, std::abs(c.error()));
        answered.push_back(c.id);
        result.cases.push_back(std::move(c));
    }
    if (!compared.empty())
        result.verdicts.push_back({"rates of host copies: largest error", worst, kRates});
    return answered;
}

}  // namespace switchfold::validation
