// SPDX-License-Identifier: Apache-2.0
#include "sim/intervals/neighbourhood.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

namespace switchfold::intervals {

namespace {

/// Distances at which a likeness is 1/e.
constexpr std::array kBandwidths{0.5, 0.7, 1.0, 1.4, 2.0};
/// So many machines' likenesses are enough.
constexpr double kEnough = 4;
/// Machines whose likenesses add up to less say nothing: the range would be wider than any use.
constexpr double kLeastAlike = 0.1;
/// Nothing that differs by more is asked.
constexpr double kFarthest = 4;
/// What one machine alone widens.
constexpr double kWidening = 0.7;
/// So many machines speak for others of their kind. Fewer share with all that is of the kind.
constexpr double kSpeakForOthers = 2;

/// A machine's own measurements that differ by less speak for it alone ...
constexpr double kOwnFarthest = 2;
/// ... if their likenesses add up to so many.
constexpr double kOwnEnough = 2.5;
constexpr double kOwnBandwidth = 1.4;

/// Smaller parts change no quantile.
constexpr double kLeast = 1e-6;

struct Near {
    std::size_t residual = 0;
    double distance = 0;
    std::size_t table = 0;
    std::size_t machine = 0;
};

class Voices {
public:
    explicit Voices(std::vector<Near> near, std::size_t tables, std::size_t machines) :
        near_(std::move(near)), tables_(tables), machines_(machines) {}

    /// Sum of the machines' likenesses.
    double listen(double bandwidth) {
        likeness_.assign(near_.size(), 0);
        rows_of_table_.assign(tables_, 0);
        table_.assign(tables_, 0);
        machine_.assign(machines_, 0);
        for (std::size_t i = 0; i < near_.size(); ++i) {
            const double d = near_[i].distance / bandwidth;
            const double k = std::exp(-d * d);
            likeness_[i] = k;
            rows_of_table_[near_[i].table] += k;
            table_[near_[i].table] = std::max(table_[near_[i].table], k);
            machine_[near_[i].machine] = std::max(machine_[near_[i].machine], k);
        }
        double sum = 0;
        for (const double m : machine_)
            sum += m;
        return sum;
    }

    [[nodiscard]] std::vector<Neighbour> shares() const {
        std::vector<double> tables_of_machine(machines_, 0);
        std::vector<bool> counted(tables_, false);
        double all = 0;
        for (const Near& n : near_)
            if (!counted[n.table]) {
                counted[n.table] = true;
                tables_of_machine[n.machine] += table_[n.table];
            }
        for (const double m : machine_)
            all += m;
        std::vector<Neighbour> out;
        for (std::size_t i = 0; i < near_.size(); ++i) {
            const Near& n = near_[i];
            const double share = machine_[n.machine] / all * table_[n.table] /
                                 tables_of_machine[n.machine] * likeness_[i] /
                                 rows_of_table_[n.table];
            if (share > kLeast)
                out.push_back({n.residual, share});
        }
        double kept = 0;
        for (const Neighbour& n : out)
            kept += n.weight;
        for (Neighbour& n : out)
            n.weight /= kept;
        return out;
    }

    [[nodiscard]] std::pair<std::size_t, std::size_t> alike() const {
        const double most = *std::max_element(likeness_.begin(), likeness_.end());
        std::size_t rows = 0;
        std::vector<bool> machines(machines_, false);
        for (std::size_t i = 0; i < near_.size(); ++i)
            if (likeness_[i] >= most / 2) {
                ++rows;
                machines[near_[i].machine] = true;
            }
        return {rows, static_cast<std::size_t>(std::count(machines.begin(), machines.end(), true))};
    }

private:
    std::vector<Near> near_;
    std::size_t tables_;
    std::size_t machines_;
    std::vector<double> likeness_;
    std::vector<double> rows_of_table_;
    std::vector<double> table_;
    std::vector<double> machine_;
};

}  // namespace

Together measured_together(const Residual& residual) {
    return {residual.machine, residual.table, residual.of.ranks, residual.of.machines};
}

double Neighbourhood::quantile(std::span<const Residual> residuals, double share) const {
    double below = 0;
    for (const Neighbour& n : rows) {
        below += n.weight;
        if (below >= share)
            return widened(residuals[n.residual].log_ratio);
    }
    return widened(residuals[rows.back().residual].log_ratio);
}

std::optional<double>
Neighbourhood::spread_of_pairs(std::span<const Residual> residuals, double share) const {
    std::map<Together, std::vector<Neighbour>> tables;
    for (const Neighbour& n : rows)
        tables[measured_together(residuals[n.residual])].push_back(n);
    std::vector<std::pair<double, double>> apart;  // ln of the factor, weight
    double all = 0;
    for (const auto& [table, of_it] : tables) {
        double of_table = 0;
        for (const Neighbour& n : of_it)
            of_table += n.weight;
        for (std::size_t i = 0; i < of_it.size(); ++i)
            for (std::size_t j = i + 1; j < of_it.size(); ++j) {
                const double weight = of_it[i].weight * of_it[j].weight / of_table;
                apart.emplace_back(
                    std::abs(
                        residuals[of_it[i].residual].log_ratio -
                        residuals[of_it[j].residual].log_ratio),
                    weight);
                all += weight;
            }
    }
    if (apart.empty())
        return std::nullopt;
    std::sort(apart.begin(), apart.end());
    double below = 0;
    for (const auto& [factor, weight] : apart) {
        below += weight;
        if (below >= share * all)
            return widening * factor;
    }
    return widening * apart.back().first;
}

/// The machine's own measurements, none if there are too few that are alike.
std::optional<Neighbourhood>
own_neighbourhood(const Likeness& likeness, std::span<const Residual> residuals) {
    Neighbourhood out;
    out.own = true;
    out.nearest = std::numeric_limits<double>::infinity();
    double voices = 0;
    for (std::size_t i = 0; i < residuals.size(); ++i) {
        if (!residuals[i].own)
            continue;
        const double d = distance(likeness, residuals[i].of);
        if (d > kOwnFarthest)
            continue;
        const double k = std::exp(-(d / kOwnBandwidth) * (d / kOwnBandwidth));
        out.rows.push_back({i, k});
        voices += k;
        if (d < out.nearest) {
            out.nearest = d;
            out.nearest_row = i;
        }
    }
    if (voices < kOwnEnough)
        return std::nullopt;
    for (Neighbour& n : out.rows)
        n.weight /= voices;
    out.machines = voices;
    out.alike = out.rows.size();
    out.alike_machines = 1;
    return out;
}

/// Sorts the rows, from which quantiles are read.
void complete(Neighbourhood& near, std::span<const Residual> residuals) {
    std::sort(near.rows.begin(), near.rows.end(), [&](const Neighbour& a, const Neighbour& b) {
        return std::pair(residuals[a.residual].log_ratio, a.residual) <
               std::pair(residuals[b.residual].log_ratio, b.residual);
    });
    near.median = near.quantile(residuals, 0.5);
    near.widening = 1 + kWidening / near.machines;
}

/// Adds all machines with a case of this kind, each by its tables' most alike rows, where few are
/// alike: two rows of one machine may agree by chance.
void add_the_unlike(
    Neighbourhood& near, const Likeness& likeness, std::span<const Residual> residuals,
    std::string_view left_out) {
    struct Nearest {
        double distance = std::numeric_limits<double>::infinity();
        std::size_t residual = 0;
    };
    std::map<std::string_view, std::map<std::string_view, Nearest>> machines;
    for (std::size_t i = 0; i < residuals.size(); ++i) {
        const Residual& r = residuals[i];
        const double d = distance(likeness, r.of);
        if (std::isinf(d) || (!left_out.empty() && r.machine == left_out))
            continue;
        if (Nearest& nearest = machines[r.machine][r.table]; d < nearest.distance)
            nearest = {d, i};
    }
    const double share = 1 - near.machines / kSpeakForOthers;
    for (Neighbour& n : near.rows)
        n.weight *= 1 - share;
    const double of_machine = share / static_cast<double>(machines.size());
    for (const auto& [machine, tables] : machines)
        for (const auto& [table, nearest] : tables)
            near.rows.push_back(
                {nearest.residual, of_machine / static_cast<double>(tables.size())});
}

Neighbourhood neighbourhood_of(
    const Likeness& likeness, std::span<const Residual> residuals, std::string_view left_out) {
    if (std::optional<Neighbourhood> own = own_neighbourhood(likeness, residuals)) {
        complete(*own, residuals);
        return *std::move(own);
    }
    std::vector<Near> near;
    std::map<std::pair<std::string_view, std::string_view>, std::size_t> tables;
    std::map<std::string_view, std::size_t> machines;
    Neighbourhood out;
    out.nearest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < residuals.size(); ++i) {
        const Residual& r = residuals[i];
        const double d = distance(likeness, r.of);
        if (d > kFarthest || (!left_out.empty() && r.machine == left_out))
            continue;
        const std::size_t machine = machines.try_emplace(r.machine, machines.size()).first->second;
        const std::size_t table =
            tables.try_emplace({r.machine, r.table}, tables.size()).first->second;
        near.push_back({i, d, table, machine});
        if (d < out.nearest) {
            out.nearest = d;
            out.nearest_row = i;
        }
    }
    if (near.empty())
        return out;
    Voices voices(std::move(near), tables.size(), machines.size());
    for (const double bandwidth : kBandwidths) {
        out.machines = voices.listen(bandwidth);
        if (out.machines >= kEnough)
            break;
    }
    if (out.machines < kLeastAlike)
        return out;
    out.rows = voices.shares();
    std::tie(out.alike, out.alike_machines) = voices.alike();
    if (out.machines < kSpeakForOthers)
        add_the_unlike(out, likeness, residuals, left_out);
    complete(out, residuals);
    return out;
}

}  // namespace switchfold::intervals
