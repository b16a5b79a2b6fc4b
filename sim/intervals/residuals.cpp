// SPDX-License-Identifier: Apache-2.0
#include "sim/intervals/residuals.h"

#include "sim/core/csv.h"
#include "sim/core/error.h"
#include "sim/intervals/drawing.h"
#include "sim/intervals/neighbourhood.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace switchfold::intervals {

namespace {

constexpr double kShare = 0.9;  ///< of measured values that a range holds
constexpr std::array<std::string_view, 13> kColumns{
    "kind",
    "operation",
    "algorithm",
    "generation",
    "fabric",
    "bytes",
    "us",
    "ranks",
    "machines",
    "machine",
    "table",
    "log_ratio",
    "standing"};

class ResidualReader {
public:
    explicit ResidualReader(std::string label) : label_(std::move(label)) {}

    std::vector<Residual> read(const CsvTable& table) {
        for (const std::string_view column : kColumns)
            if (!table.has(column))
                problems_.push_back(
                    {label_, "line 1", fmt::format("has no column {}; expected one", column)});
        std::vector<Residual> out;
        if (problems_.empty())
            for (const CsvRecord& record : table.records)
                out.push_back(residual(record));
        if (!problems_.empty())
            throw ConfigError(std::move(problems_));
        return out;
    }

private:
    template <class T>
    T number(const CsvRecord& record, std::string_view column, T least) {
        const std::string& text = record[column];
        T value{};
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || !(value >= least))
            problems_.push_back(
                {label_,
                 fmt::format("line {}", record.line),
                 fmt::format("{} is \"{}\"; expected a number from {}", column, text, least)});
        return value;
    }

    Residual residual(const CsvRecord& record) {
        Residual r;
        r.of.kind = record["kind"];
        r.of.operation = record["operation"];
        r.of.algorithm = record["algorithm"];
        r.of.generation = record["generation"];
        r.of.fabric = record["fabric"];
        r.of.bytes = number<double>(record, "bytes", 0);
        r.of.us = number<double>(record, "us", 0);
        r.of.ranks = number<std::uint32_t>(record, "ranks", 1);
        r.of.machines = number<std::uint32_t>(record, "machines", 1);
        r.machine = record["machine"];
        r.table = record["table"];
        constexpr double kImpossible = 50;  // e^50 fits no measurement
        r.log_ratio = number<double>(record, "log_ratio", -kImpossible);
        r.standing = record["standing"];
        return r;
    }

    std::string label_;
    std::vector<Problem> problems_;
};

std::string what_is_near(const Neighbourhood& near, const std::vector<Residual>& residuals) {
    constexpr double kSame = 0.5;
    return fmt::format(
        "{} measurement{} on {} kind{} of machine, {} {}",
        near.alike,
        near.alike == 1 ? "" : "s",
        near.alike_machines,
        near.alike_machines == 1 ? "" : "s",
        near.nearest < kSame ? "such as" : "the nearest",
        to_text(residuals[near.nearest_row].of));
}

}  // namespace

Residuals::Residuals(std::vector<Residual> residuals) : residuals_(std::move(residuals)) {}

Residuals Residuals::read(const std::filesystem::path& path) {
    return Residuals(ResidualReader(path.string()).read(read_csv(path)));
}

Residuals Residuals::parse(std::string_view text, const std::string& label) {
    return Residuals(ResidualReader(label).read(parse_csv(text, label)));
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

Residuals Residuals::without_machine(std::string_view machine) const {
    std::vector<Residual> rest;
    std::copy_if(
        residuals_.begin(), residuals_.end(), std::back_inserter(rest), [&](const auto& r) {
            return r.machine != machine;
        });
    return Residuals(std::move(rest));
}

}  // namespace switchfold::intervals
