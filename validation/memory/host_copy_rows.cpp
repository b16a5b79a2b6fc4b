// SPDX-License-Identifier: Apache-2.0
#include "validation/memory/host_copy_rows.h"

#include "sim/config/load.h"
#include "sim/machine/host_copy_rates.h"
#include "validation/harness/number_jobs.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace switchfold::validation {

namespace {

constexpr double kRates = 0.10;

enum class Measures : std::uint8_t { kToDevice, kDuplexFactor };

/// What a row measured, and where. Some of these rows were used to choose a machine's rates.
struct Measurement {
    std::string_view row;
    std::string_view system;
    std::uint32_t gpus;
    Measures measures;
    bool fitted;
};
constexpr std::array<Measurement, 3> kCopies{
    {{"zero_infinity_one_gpu_host", "dgx2_v100_host", 1, Measures::kToDevice, false},
     {"zero_infinity_sixteen_gpu_host", "dgx2_v100_host", 16, Measures::kToDevice, true},
     {"pcie_duplex_v100", "v100_pcie_host", 1, Measures::kDuplexFactor, true}}};

double simulated(const Measurement& measured, const SystemParams& system) {
    const Bytes bytes = mebibytes(256);
    if (measured.measures == Measures::kToDevice)
        return host_copy_rates(system, {measured.gpus, bytes, Bytes(0)}).to_device * 1e-9;
    const double one_way = host_copy_rates(system, {measured.gpus, bytes, Bytes(0)}).to_device;
    return host_copy_rates(system, {measured.gpus, bytes, bytes}).both / (2 * one_way);
}

}  // namespace

std::vector<std::string> compare_host_copies(
    const std::vector<MemoryRow>& rows, const SuiteOptions& options, SuiteResult& result) {
    struct Pair {
        const MemoryRow* row;
        const Measurement* measured;
    };
    std::vector<Pair> pairs;
    for (const MemoryRow& row : rows)
        for (const Measurement& measured : kCopies)
            if (row.id == measured.row && row.known)
                pairs.push_back({&row, &measured});
    std::vector<NumberJob> jobs;
    for (const Pair& pair : pairs)
        jobs.push_back({pair.row->id, [&options, pair](const JobProgress&) {
                            const SystemParams system = load_system(
                                options.root / "configs/systems" /
                                    (std::string(pair.measured->system) + ".json"),
                                {});
                            return simulated(*pair.measured, system);
                        }});
    const std::vector<double> found = run_number_jobs(jobs, options);
    std::vector<std::string> answered;
    double worst = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        Case c;
        c.id = pairs[i].row->id;
        c.group = "copies between GPUs and their host";
        c.quantity = pairs[i].row->quantity;
        c.unit = pairs[i].row->unit;
        c.measured = pairs[i].row->value;
        c.simulated = found[i];
        c.fitted = pairs[i].measured->fitted;
        c.how = pairs[i].measured->system;
        worst = std::max(worst, std::abs(c.error()));
        answered.push_back(c.id);
        result.cases.push_back(std::move(c));
    }
    if (!pairs.empty())
        result.verdicts.push_back({"rates of host copies: largest error", worst, kRates});
    return answered;
}

}  // namespace switchfold::validation
