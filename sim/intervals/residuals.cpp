// SPDX-License-Identifier: Apache-2.0
#include "sim/intervals/residuals.h"

#include "sim/core/csv.h"
#include "sim/core/error.h"
#include "sim/core/random_stream.h"
#include "sim/intervals/neighbourhood.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

namespace switchfold::intervals {

namespace {

constexpr double kShare = 0.9;  ///< of measured values that a range holds
constexpr std::array<std::string_view, 12> kColumns{
    "kind",
    "operation",
    "algorithm",
    "generation",
    "fabric",
    "bytes",
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

/// Keys of what all likenesses of a draw share: Gumbel numbers of machines, tables and sizes.
/// Taking the largest of ln(weight) + Gumbel draws by weight; equal numbers for equal machines make
/// different likenesses draw the same machine as often as their weights allow.
class Drawing {
public:
    Drawing(const std::vector<Residual>& residuals, std::size_t count, std::uint64_t seed) :
        residuals_(residuals), count_(count), seed_(seed) {}

    std::vector<double> factors(const Neighbourhood& near) {
        const std::vector<Group> machines = by_machine(near);
        std::vector<double> out(count_);
        for (std::size_t draw = 0; draw < count_; ++draw) {
            const Group& machine = take(machines, draw);
            const Group& table = take(machine.parts, draw);
            const Group& row = take(table.parts, draw);
            out[draw] = std::exp(near.widened(row.log_ratio));
        }
        return out;
    }

private:
    struct Group {
        std::string key;
        double log_weight = 0;
        double log_ratio = 0;
        std::vector<Group> parts;
        const std::vector<double>* gumbel = nullptr;
    };

    std::vector<Group> by_machine(const Neighbourhood& near) {
        std::map<std::string_view, std::map<std::string_view, std::vector<Neighbour>>> tree;
        for (const Neighbour& n : near.rows)
            tree[residuals_[n.residual].machine][residuals_[n.residual].table].push_back(n);
        std::vector<Group> machines;
        for (const auto& [machine, tables] : tree) {
            Group m;
            m.key = machine;
            double machine_weight = 0;
            for (const auto& [table, rows] : tables) {
                Group t;
                t.key = fmt::format("{}/{}", machine, table);
                double table_weight = 0;
                for (const Neighbour& n : rows) {
                    const Residual& r = residuals_[n.residual];
                    Group row;
                    row.key =
                        fmt::format("{}/{:.1f}", t.key, r.of.bytes > 0 ? std::log2(r.of.bytes) : 0);
                    row.log_weight = std::log(n.weight);
                    row.log_ratio = r.log_ratio;
                    row.gumbel = &gumbel(row.key);
                    table_weight += n.weight;
                    t.parts.push_back(std::move(row));
                }
                t.log_weight = std::log(table_weight);
                t.gumbel = &gumbel(t.key);
                machine_weight += table_weight;
                m.parts.push_back(std::move(t));
            }
            m.log_weight = std::log(machine_weight);
            m.gumbel = &gumbel(m.key);
            machines.push_back(std::move(m));
        }
        return machines;
    }

    static const Group& take(const std::vector<Group>& groups, std::size_t draw) {
        const Group* best = &groups.front();
        double most = best->log_weight + (*best->gumbel)[draw];
        for (const Group& g : groups)
            if (const double value = g.log_weight + (*g.gumbel)[draw]; value > most) {
                most = value;
                best = &g;
            }
        return *best;
    }

    const std::vector<double>& gumbel(const std::string& key) {
        const auto [at, fresh] = gumbels_.try_emplace(key);
        if (fresh) {
            RandomStream stream(seed_, "intervals/" + key);
            constexpr double kHalf = 0x1p-54;  // share() may be 0
            for (std::size_t i = 0; i < count_; ++i)
                at->second.push_back(-std::log(-std::log(stream.share() + kHalf)));
        }
        return at->second;
    }

    const std::vector<Residual>& residuals_;
    std::size_t count_;
    std::uint64_t seed_;
    std::map<std::string, std::vector<double>> gumbels_;
};

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
        out.push_back(near.rows.empty() ? std::vector<double>(count, 1.0) : drawing.factors(near));
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
