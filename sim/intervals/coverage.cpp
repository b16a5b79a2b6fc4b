// SPDX-License-Identifier: Apache-2.0
#include "sim/intervals/coverage.h"

#include "sim/intervals/drawing.h"
#include "sim/intervals/neighbourhood.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace switchfold::intervals {

namespace {

double median(std::vector<double> values) {
    if (values.empty())
        return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

class Counting {
public:
    void unmeasured(const std::string& machine) {
        machines_.insert(machine);
        ++coverage_.cases;
        ++coverage_.unmeasured;
    }
    /// A case with the range that these measurements give it.
    void
    add(const Residual& of, const Neighbourhood& near, std::span<const Residual> measured,
        const Nominal& nominal) {
        const double tail = (1 - nominal.share) / 2;
        add(of.machine, of.log_ratio,
            nominal.stretch * std::min(0.0, near.quantile(measured, tail)),
            nominal.stretch * std::max(0.0, near.quantile(measured, 1 - tail)));
    }
    void add(const std::string& machine, double log_ratio, double low, double high) {
        machines_.insert(machine);
        ++coverage_.cases;
        coverage_.inside += low <= log_ratio && log_ratio <= high ? 1 : 0;
        widths_.push_back(high - low);
    }
    [[nodiscard]] Coverage result(std::string kind) const {
        Coverage out = coverage_;
        out.kind = std::move(kind);
        out.machines = machines_.size();
        out.median_width = median(widths_);
        return out;
    }

private:
    Coverage coverage_;
    std::set<std::string> machines_;
    std::vector<double> widths_;
};

/// Rows that are the same case on the same machine, and therefore have one range.
std::vector<std::vector<const Residual*>> equal_cases(const std::vector<Residual>& all) {
    const auto key = [](const Residual& r) {
        return std::tie(
            r.machine, r.of.kind, r.of.operation, r.of.algorithm, r.of.generation, r.of.fabric,
            r.of.bytes, r.of.us, r.of.ranks, r.of.machines);
    };
    std::vector<const Residual*> sorted;
    for (const Residual& r : all)
        sorted.push_back(&r);
    std::stable_sort(sorted.begin(), sorted.end(), [&](const Residual* a, const Residual* b) {
        return key(*a) < key(*b);
    });
    std::vector<std::vector<const Residual*>> out;
    for (const Residual* r : sorted) {
        if (out.empty() || key(*out.back().front()) != key(*r))
            out.emplace_back();
        out.back().push_back(r);
    }
    return out;
}

/// Two algorithms on one machine.
struct Pair {
    const Residual* one;
    const Residual* other;
};

std::vector<Pair> pairs_of(const std::vector<Residual>& all) {
    using Place = std::tuple<std::string, std::string, double, std::uint32_t, std::uint32_t>;
    std::map<Place, std::map<std::string, const Residual*>> places;
    for (const Residual& r : all)
        if (!r.of.algorithm.empty())
            places[{r.machine, r.of.operation, r.of.bytes, r.of.ranks, r.of.machines}].emplace(
                r.of.algorithm, &r);
    std::vector<Pair> pairs;
    for (const auto& [place, algorithms] : places)
        for (auto one = algorithms.begin(); one != algorithms.end(); ++one)
            for (auto other = std::next(one); other != algorithms.end(); ++other)
                pairs.push_back({one->second, other->second});
    return pairs;
}

double quantile(std::vector<double> values, double share) {
    const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + at, values.end());
    return values[static_cast<std::size_t>(at)];
}

constexpr std::size_t kDraws = 400;

}  // namespace

std::vector<std::vector<Coverage>>
leave_machines_out(const Residuals& residuals, std::span<const Nominal> nominal) {
    const std::vector<Residual>& all = residuals.all();
    std::vector<std::map<std::string, Counting>> kinds(nominal.size());
    for (const std::vector<const Residual*>& equal : equal_cases(all)) {
        const Residual& one = *equal.front();
        const Neighbourhood near = neighbourhood_of(one.of, all, one.machine);
        for (std::size_t i = 0; i < nominal.size(); ++i) {
            Counting& kind = kinds[i][one.of.kind];
            for (const Residual* r : equal)
                if (near.rows.empty())
                    kind.unmeasured(r->machine);
                else
                    kind.add(*r, near, all, nominal[i]);
        }
    }
    std::vector<std::vector<Coverage>> out(nominal.size());
    for (std::size_t i = 0; i < nominal.size(); ++i)
        for (const auto& [name, kind] : kinds[i])
            out[i].push_back(kind.result(name));
    return out;
}

RatioCoverage leave_machines_out_of_ratios(const Residuals& residuals, const Nominal& nominal) {
    const std::vector<Residual>& all = residuals.all();
    const double tail = (1 - nominal.share) / 2;
    Counting ratios;
    std::vector<double> alone;
    Drawing together(all, kDraws, 1);
    Drawing apart(all, kDraws, 2);
    for (const auto& [one, other] : pairs_of(all)) {
        const Neighbourhood a = neighbourhood_of(one->of, all, one->machine);
        const Neighbourhood b = neighbourhood_of(other->of, all, one->machine);
        if (a.rows.empty() || b.rows.empty()) {
            ratios.unmeasured(one->machine);
            continue;
        }
        const std::vector<double> first = together.factors(one->of, a);
        const auto width = [&](const std::vector<double>& second) {
            std::vector<double> logs;
            for (std::size_t i = 0; i < kDraws; ++i)
                logs.push_back(std::log(first[i] / second[i]));
            return std::pair(
                nominal.stretch * std::min(0.0, quantile(logs, tail)),
                nominal.stretch * std::max(0.0, quantile(logs, 1 - tail)));
        };
        const auto [low, high] = width(together.factors(other->of, b));
        ratios.add(one->machine, one->log_ratio - other->log_ratio, low, high);
        const auto [far_low, far_high] = width(apart.factors(other->of, b));
        alone.push_back(far_high - far_low);
    }
    return {ratios.result("ratio"), median(alone)};
}

Coverage
halve_machines(const Residuals& residuals, const std::string& kind, const Nominal& nominal) {
    std::map<std::string, std::vector<const Residual*>> machines;
    for (const Residual& r : residuals.all())
        if (r.of.kind == kind)
            machines[r.machine].push_back(&r);
    Counting cases;
    for (auto& [machine, rows] : machines) {
        // Neighbouring sizes of an operation go to different halves.
        std::stable_sort(rows.begin(), rows.end(), [](const Residual* a, const Residual* b) {
            const auto place = [](const Residual& r) {
                return std::tie(
                    r.of.operation, r.of.algorithm, r.of.ranks, r.of.machines, r.table, r.of.bytes,
                    r.of.us);
            };
            return place(*a) < place(*b);
        });
        std::vector<Residual> own;
        for (std::size_t i = 0; i < rows.size(); i += 2)
            own.emplace_back(*rows[i]).own = true;
        for (std::size_t i = 1; i < rows.size(); i += 2) {
            const Neighbourhood near = neighbourhood_of(rows[i]->of, own);
            if (!near.own)
                cases.unmeasured(machine);
            else
                cases.add(*rows[i], near, own, nominal);
        }
    }
    return cases.result("own");
}

Coverage leave_machines_out_of_pairs(
    const Residuals& residuals, const std::string& kind, const Nominal& nominal) {
    const std::vector<Residual>& all = residuals.all();
    std::map<Together, std::vector<const Residual*>> tables;
    for (const Residual& r : all)
        if (r.of.kind == kind)
            tables[measured_together(r)].push_back(&r);
    Counting pairs;
    for (const auto& [table, rows] : tables)
        // Each row with the one half a table further: no order of rows makes neighbours alike.
        for (std::size_t i = 0; i < rows.size() / 2; ++i) {
            const Residual& one = *rows[i];
            const Residual& other = *rows[i + rows.size() / 2];
            const std::optional<double> spread =
                neighbourhood_of(one.of, all, one.machine).spread_of_pairs(all, nominal.share);
            if (spread)
                pairs.add(
                    one.machine, one.log_ratio - other.log_ratio, -nominal.stretch * *spread,
                    nominal.stretch * *spread);
            else
                pairs.unmeasured(one.machine);
        }
    return pairs.result("pair");
}

}  // namespace switchfold::intervals
