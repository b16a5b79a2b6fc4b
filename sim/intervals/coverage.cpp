// SPDX-License-Identifier: Apache-2.0
#include "sim/intervals/coverage.h"

#include "sim/intervals/neighbourhood.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace switchfold::intervals {

namespace {

struct Counts {
    Coverage coverage;
    std::set<std::string> machines;
    std::vector<double> widths;
};

}  // namespace

std::vector<Coverage> leave_machines_out(const Residuals& residuals, double share, double stretch) {
    std::map<std::string, Counts> kinds;
    const std::vector<Residual>& all = residuals.all();
    const double tail = (1 - share) / 2;
    for (const Residual& r : all) {
        Counts& kind = kinds[r.of.kind];
        ++kind.coverage.cases;
        kind.machines.insert(r.machine);
        const Neighbourhood near = neighbourhood_of(r.of, all, r.machine);
        if (near.rows.empty()) {
            ++kind.coverage.unmeasured;
            continue;
        }
        const double low = stretch * std::min(0.0, near.quantile(all, tail));
        const double high = stretch * std::max(0.0, near.quantile(all, 1 - tail));
        kind.coverage.inside += low <= r.log_ratio && r.log_ratio <= high ? 1 : 0;
        kind.widths.push_back(high - low);
    }
    std::vector<Coverage> out;
    for (auto& [name, kind] : kinds) {
        kind.coverage.kind = name;
        kind.coverage.machines = kind.machines.size();
        if (!kind.widths.empty()) {
            const auto middle =
                kind.widths.begin() + static_cast<std::ptrdiff_t>(kind.widths.size() / 2);
            std::nth_element(kind.widths.begin(), middle, kind.widths.end());
            kind.coverage.median_width = *middle;
        }
        out.push_back(kind.coverage);
    }
    return out;
}

}  // namespace switchfold::intervals
