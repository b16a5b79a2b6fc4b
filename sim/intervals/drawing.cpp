// SPDX-License-Identifier: Apache-2.0
#include "sim/intervals/drawing.h"

#include "core/random_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace switchfold::intervals {

std::vector<double> Drawing::factors(const Likeness& likeness, const Neighbourhood& near) {
    const std::vector<Choice> machines = machines_of(near);
    RandomStream own(seed_, "intervals/of " + to_text(likeness));
    std::vector<double> out(count_);
    for (std::size_t draw = 0; draw < count_; ++draw) {
        const double place = own.share();
        if (own.share() * (near.machines + 1) < 1) {
            double below = 0;
            for (const Neighbour& n : near.rows) {
                out[draw] = std::exp(near.widened(residuals_[n.residual].log_ratio));
                below += n.weight;
                if (below > place)
                    break;
            }
            continue;
        }
        const Choice& machine = take(machines, draw);
        const Choice& table = take(machine.parts, draw);
        out[draw] = std::exp(near.widened(take(table.parts, draw).log_ratio));
    }
    return out;
}

std::vector<Drawing::Choice> Drawing::machines_of(const Neighbourhood& near) {
    std::map<std::string_view, std::map<std::string_view, std::vector<Neighbour>>> tree;
    for (const Neighbour& n : near.rows)
        tree[residuals_[n.residual].machine][residuals_[n.residual].table].push_back(n);
    std::vector<Choice> machines;
    for (const auto& [machine, tables] : tree) {
        Choice of_machine;
        double all = 0;
        for (const auto& [table, rows] : tables) {
            Choice of_table;
            double sum = 0;
            std::map<std::string, int> seen;
            for (const Neighbour& n : rows) {
                const Residual& r = residuals_[n.residual];
                // Errors of a machine go with the size, whatever the algorithm and the table.
                std::string key = fmt::format(
                    "{}/{:.0f}", machine, std::log2(std::max(1.0, r.of.bytes + r.of.us)));
                key += fmt::format("/{}", seen[key]++);
                of_table.parts.push_back({std::log(n.weight), r.log_ratio, &gumbel(key), {}});
                sum += n.weight;
            }
            of_table.log_weight = std::log(sum);
            of_table.gumbel = &gumbel(fmt::format("{}/table {}", machine, table));
            of_machine.parts.push_back(std::move(of_table));
            all += sum;
        }
        of_machine.log_weight = std::log(all);
        of_machine.gumbel = &gumbel(fmt::format("machine {}", machine));
        machines.push_back(std::move(of_machine));
    }
    return machines;
}

const Drawing::Choice& Drawing::take(const std::vector<Choice>& choices, std::size_t draw) {
    const Choice* best = nullptr;
    double most = 0;
    for (const Choice& choice : choices)
        if (const double value = choice.log_weight + (*choice.gumbel)[draw];
            best == nullptr || value > most) {
            most = value;
            best = &choice;
        }
    return *best;
}

const std::vector<double>& Drawing::gumbel(const std::string& key) {
    const auto [at, fresh] = gumbels_.try_emplace(key);
    if (fresh) {
        RandomStream stream(seed_, "intervals/" + key);
        constexpr double kHalfStep = 0x1p-54;  // share() may be 0
        at->second.reserve(count_);
        for (std::size_t i = 0; i < count_; ++i)
            at->second.push_back(-std::log(-std::log(stream.share() + kHalfStep)));
    }
    return at->second;
}

}  // namespace switchfold::intervals
