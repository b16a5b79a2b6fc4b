// SPDX-License-Identifier: Apache-2.0
#include "sim/intervals/residuals.h"

#include "core/csv.h"
#include "core/error.h"
#include "sim/intervals/drawing.h"
#include "sim/intervals/neighbourhood.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace switchfold::intervals {

namespace {

constexpr double kShare = 0.9;  ///< of measured values that a range holds
constexpr std::array<std::string_view, 13> kColumns{
    "kind",  "operation", "algorithm", "generation", "fabric",    "bytes",   "us",
    "ranks", "machines",  "machine",   "table",      "log_ratio", "standing"};

/// A column's place in kColumns.
consteval std::size_t column(std::string_view name) {
    std::size_t at = 0;
    while (kColumns[at] != name)
        ++at;
    return at;
}

class ResidualReader {
public:
    explicit ResidualReader(std::string label) : label_(std::move(label)) {}

    void header(const std::vector<std::string>& columns) {
        for (std::size_t i = 0; i < kColumns.size(); ++i) {
            const auto at = std::find(columns.begin(), columns.end(), kColumns[i]);
            places_[i] = static_cast<std::size_t>(at - columns.begin());
            if (at == columns.end())
                problems_.push_back(
                    {label_, "line 1", fmt::format("has no column {}; expected one", kColumns[i])});
        }
        complete_ = problems_.empty();
    }

    void add(std::size_t line, const std::vector<std::string>& cells) {
        if (!complete_)
            return;
        const auto text = [&](std::size_t place) -> const std::string& {
            return cells[places_[place]];
        };
        const auto number = [&]<class T>(std::size_t place, T least) {
            return this->number(line, place, text(place), least);
        };
        Residual& r = residuals_.emplace_back();
        r.of.kind = text(column("kind"));
        r.of.operation = text(column("operation"));
        r.of.algorithm = text(column("algorithm"));
        r.of.generation = text(column("generation"));
        r.of.fabric = text(column("fabric"));
        r.of.bytes = number(column("bytes"), 0.0);
        r.of.us = number(column("us"), 0.0);
        r.of.ranks = number(column("ranks"), 1U);
        r.of.machines = number(column("machines"), 1U);
        r.machine = text(column("machine"));
        r.table = text(column("table"));
        constexpr double kImpossible = 50;  // e^50 fits no measurement
        r.log_ratio = number(column("log_ratio"), -kImpossible);
        r.standing = text(column("standing"));
    }

    std::vector<Residual> take() {
        if (!problems_.empty())
            throw ConfigError(std::move(problems_));
        return std::move(residuals_);
    }

private:
    template <class T>
    T number(std::size_t line, std::size_t place, const std::string& text, T least) {
        T value{};
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || !(value >= least))
            problems_.push_back(
                {label_, fmt::format("line {}", line),
                 fmt::format(
                     "{} is \"{}\"; expected a number from {}", kColumns[place], text, least)});
        return value;
    }

    std::string label_;
    std::array<std::size_t, kColumns.size()> places_{};
    bool complete_ = false;
    std::vector<Residual> residuals_;
    std::vector<Problem> problems_;
};

std::string what_is_near(const Neighbourhood& near, const std::vector<Residual>& residuals) {
    constexpr double kSame = 0.5;
    if (near.own)
        return fmt::format(
            "{} measurement{} of this machine, such as {}", near.alike, near.alike == 1 ? "" : "s",
            to_text(residuals[near.nearest_row].of));
    return fmt::format(
        "{} measurement{} on {} kind{} of machine, {} {}", near.alike, near.alike == 1 ? "" : "s",
        near.alike_machines, near.alike_machines == 1 ? "" : "s",
        near.nearest < kSame ? "such as" : "the nearest", to_text(residuals[near.nearest_row].of));
}

}  // namespace

Residuals::Residuals(std::vector<Residual> residuals) : residuals_(std::move(residuals)) {}

Residuals Residuals::read(const std::filesystem::path& path) {
    ResidualReader reader(path.string());
    read_csv_cells(
        path, [&](const auto& columns) { reader.header(columns); },
        [&](std::size_t line, const auto& cells) { reader.add(line, cells); });
    return Residuals(reader.take());
}

Residuals Residuals::parse(std::string_view text, const std::string& label) {
    ResidualReader reader(label);
    parse_csv_cells(
        text, label, [&](const auto& columns) { reader.header(columns); },
        [&](std::size_t line, const auto& cells) { reader.add(line, cells); });
    return Residuals(reader.take());
}

Range Residuals::range(const Likeness& likeness) const {
    return range(likeness, kShare);
}

Range Residuals::range(const Likeness& likeness, double share) const {
    const Neighbourhood near = neighbourhood_of(likeness, residuals_);
    Range range;
    if (near.rows.empty()) {
        range.nearest = fmt::format("nothing like {} was measured", to_text(likeness));
        return range;
    }
    const double tail = (1 - share) / 2;
    range.low = std::min(1.0, std::exp(near.quantile(residuals_, tail)));
    range.high = std::max(1.0, std::exp(near.quantile(residuals_, 1 - tail)));
    range.measurements = near.alike;
    range.machines = near.alike_machines;
    range.own = near.own;
    range.nearest = what_is_near(near, residuals_);
    return range;
}

Range Residuals::range_of_pairs(const Likeness& likeness) const {
    const Neighbourhood near = neighbourhood_of(likeness, residuals_);
    const std::optional<double> spread = near.spread_of_pairs(residuals_, kShare);
    Range range;
    if (!spread) {
        range.nearest =
            fmt::format("no two cases like {} were measured together", to_text(likeness));
        return range;
    }
    range.low = std::exp(-*spread);
    range.high = std::exp(*spread);
    range.measurements = near.alike;
    range.machines = near.alike_machines;
    range.own = near.own;
    range.nearest = what_is_near(near, residuals_);
    return range;
}

std::vector<std::vector<double>> Residuals::draws(
    std::span<const Likeness> likenesses, std::size_t count, std::uint64_t seed) const {
    Drawing drawing(residuals_, count, seed);
    std::vector<std::vector<double>> out;
    for (const Likeness& likeness : likenesses) {
        const Neighbourhood near = neighbourhood_of(likeness, residuals_);
        out.push_back(
            near.rows.empty() ? std::vector<double>(count, 1.0) : drawing.factors(likeness, near));
    }
    return out;
}

Residuals Residuals::with_own(std::span<const Residual> own) const {
    std::vector<Residual> all = residuals_;
    for (const Residual& r : own)
        all.emplace_back(r).own = true;
    return Residuals(std::move(all));
}

Residuals Residuals::without_machine(std::string_view machine) const {
    std::vector<Residual> rest;
    std::copy_if(
        residuals_.begin(), residuals_.end(), std::back_inserter(rest),
        [&](const auto& r) { return r.machine != machine; });
    return Residuals(std::move(rest));
}

std::string to_csv(std::span<const Residual> residuals) {
    std::string text = fmt::format("{}\n", fmt::join(kColumns, ","));
    for (const Residual& r : residuals)
        text += fmt::format(
            "{},{},{},{},{},{:.0f},{:.4g},{},{},{},{},{:.4f},{}\n", r.of.kind, r.of.operation,
            r.of.algorithm, r.of.generation, r.of.fabric, r.of.bytes, r.of.us, r.of.ranks,
            r.of.machines, csv_field(r.machine), csv_field(r.table), r.log_ratio, r.standing);
    return text;
}

}  // namespace switchfold::intervals
