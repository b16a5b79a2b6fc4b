// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/intervals/neighbourhood.h"
#include "sim/intervals/residuals.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace switchfold::intervals {

/// Draws of errors that belong together: draw i of all neighbourhoods is of one machine as far as
/// their weights allow, of one of its tables, and of like sizes.
///
/// The largest of ln(weight) + Gumbel number is drawn by weight. Each machine, table and size has
/// its own Gumbel numbers, the same in all neighbourhoods: so each neighbourhood is drawn from by
/// its weights exactly, and two neighbourhoods of similar weights draw the same machine. How much
/// of their errors algorithms share, few machines cannot tell: of n machines, one draw in n + 1 is
/// of the neighbourhood alone.
class Drawing {
public:
    Drawing(std::span<const Residual> residuals, std::size_t count, std::uint64_t seed) :
        residuals_(residuals), count_(count), seed_(seed) {}

    /// Factors on simulated values of what is like this. \pre the neighbourhood is not empty.
    [[nodiscard]] std::vector<double> factors(const Likeness& likeness, const Neighbourhood& near);

private:
    /// Something to draw, with what to draw within it.
    struct Choice {
        double log_weight = 0;
        double log_ratio = 0;
        const std::vector<double>* gumbel = nullptr;
        std::vector<Choice> parts;
    };

    [[nodiscard]] std::vector<Choice> machines_of(const Neighbourhood& near);
    [[nodiscard]] static const Choice& take(const std::vector<Choice>& choices, std::size_t draw);
    [[nodiscard]] const std::vector<double>& gumbel(const std::string& key);

    std::span<const Residual> residuals_;
    std::size_t count_;
    std::uint64_t seed_;
    std::map<std::string, std::vector<double>> gumbels_;
};

}  // namespace switchfold::intervals
