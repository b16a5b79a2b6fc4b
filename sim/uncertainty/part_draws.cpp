// SPDX-License-Identifier: Apache-2.0
#include "sim/uncertainty/part_draws.h"

#include "sim/uncertainty/figure_intervals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace switchfold {

namespace {

constexpr double kLittle = 0.01;  ///< of a figure

/// What each kind's measurements are called.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kNouns{
    {{"collective", "collective"},
     {"kernel", "kernel"},
     {"overlap", "slowdown"},
     {"step", "step"},
     {"change", "change"}}};

std::string_view noun_of(std::string_view kind) {
    for (const auto& [known, noun] : kNouns)
        if (known == kind)
            return noun;
    return kind;
}

/// "12", or "3 to 12".
std::string count_text(std::size_t least, std::size_t most) {
    return least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
}

}  // namespace

void IntervalBasis::add(const IntervalBasis& other) {
    for (const auto& [row, weight] : other.weights)
        weights[row] += weight;
    given += other.given;
    rest += other.rest;
}

double IntervalBasis::all() const {
    double sum = std::abs(given) + std::abs(rest);
    for (const auto& [row, weight] : weights)
        sum += std::abs(weight);
    return sum;
}

std::string measured_text(
    const std::string& kind, const intervals::Range& least, const intervals::Range& most) {
    const std::string measured = fmt::format(
        "{} measured {}{}", count_text(least.measurements, most.measurements), noun_of(kind),
        most.measurements == 1 ? "" : "s");
    if (least.own && most.own)
        return measured + " of this machine";
    return fmt::format(
        "{} on {} kind{} of machine", measured, count_text(least.machines, most.machines),
        most.machines == 1 ? "" : "s");
}

std::size_t PartDraws::row(const PartKind& kind) {
    const auto at = std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) {
        return row.kind.like == kind.like && row.kind.unmeasured == kind.unmeasured;
    });
    const auto index = static_cast<std::size_t>(at - rows_.begin());
    if (index == rows_.size())
        rows_.push_back(
            {kind, kind.unmeasured.empty() ? residuals_.range(kind.like) : intervals::Range(), {}});
    return index;
}

void PartDraws::draw() {
    std::vector<intervals::Likeness> likenesses;
    for (const Row& row : rows_)
        if (row.measured())
            likenesses.push_back(row.kind.like);
    std::vector<std::vector<double>> drawn =
        residuals_.draws(likenesses, kIntervalDraws, kIntervalSeed);
    std::size_t next = 0;
    for (Row& row : rows_)
        row.factors =
            row.measured() ? std::move(drawn[next++]) : std::vector<double>(kIntervalDraws, 1.0);
}

std::vector<const PartDraws::Row*> PartDraws::that_matter(const IntervalBasis& basis) const {
    std::vector<const Row*> rows;
    const double all = basis.all();
    for (const auto& [row, weight] : basis.weights)
        if (std::abs(weight) > kLittle * all)
            rows.push_back(&rows_[row]);
    return rows;
}

bool PartDraws::measured(const IntervalBasis& basis) const {
    const std::vector<const Row*> rows = that_matter(basis);
    return std::all_of(rows.begin(), rows.end(), [](const Row* row) { return row->measured(); });
}

bool PartDraws::nothing(const IntervalBasis& basis) const {
    const std::vector<const Row*> rows = that_matter(basis);
    return std::abs(basis.given) <= kLittle * basis.all() &&
           std::none_of(rows.begin(), rows.end(), [](const Row* row) { return row->measured(); });
}

std::string PartDraws::text(const IntervalBasis& basis) const {
    const std::vector<const Row*> rows = that_matter(basis);
    std::vector<std::string> parts;
    for (const auto& [kind, noun] : kNouns) {
        intervals::Range least;
        intervals::Range most;
        for (const Row* row : rows) {
            if (row->kind.like.kind != kind || !row->measured())
                continue;
            const bool first = most.measurements == 0;
            least.measurements = first ? row->range.measurements
                                       : std::min(least.measurements, row->range.measurements);
            least.machines =
                first ? row->range.machines : std::min(least.machines, row->range.machines);
            most.measurements = std::max(most.measurements, row->range.measurements);
            most.machines = std::max(most.machines, row->range.machines);
        }
        if (most.measurements > 0)
            parts.push_back(measured_text(std::string(kind), least, most));
    }
    std::string text = fmt::format("{}", fmt::join(parts, ", "));
    if (basis.given > kLittle * basis.all())
        text += fmt::format("{}kernels as traced", text.empty() ? "" : "; ");
    if (basis.rest > kLittle * basis.all())
        text += fmt::format("{}hosts and gaps as simulated", text.empty() ? "" : "; ");
    std::vector<std::string> open;
    for (const Row* row : rows) {
        if (row->measured())
            continue;
        std::string why = row->kind.unmeasured.empty()
                              ? fmt::format("nothing like {} was measured", to_text(row->kind.like))
                              : row->kind.unmeasured;
        if (std::find(open.begin(), open.end(), why) == open.end())
            open.push_back(std::move(why));
    }
    if (!open.empty()) {
        constexpr std::size_t kMostTold = 2;
        const std::size_t more = open.size() - std::min(open.size(), kMostTold);
        open.resize(std::min(open.size(), kMostTold));
        text = fmt::format(
            "unmeasured: {}{}{}", fmt::join(open, ", "),
            more > 0 ? fmt::format(", and {} more", more) : "",
            text.empty() ? "" : "; other parts: " + text);
    }
    return text + basis.more;
}

}  // namespace switchfold
