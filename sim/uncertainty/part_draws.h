// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/intervals/residuals.h"
#include "sim/uncertainty/step_parts.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace switchfold {

/// What an interval rests on: how much of a figure is of each kind, in its own unit.
struct IntervalBasis {
    std::map<std::size_t, double> weights;  ///< by PartDraws' row
    double given = 0;                       ///< kernels as traced, without an error of ours
    double rest = 0;                        ///< hosts, gaps and copies: as simulated
    std::string more;                       ///< said after it

    void add(std::size_t row, double weight) { weights[row] += weight; }
    void add(const IntervalBasis& other);
    [[nodiscard]] double all() const;
};

/// The errors of kinds of parts: factors in each draw, and what these rest on.
class PartDraws {
public:
    explicit PartDraws(const intervals::Residuals& residuals) : residuals_(residuals) {}

    /// The row of a kind: the same for kinds that are alike.
    [[nodiscard]] std::size_t row(const PartKind& kind);
    /// Draws all rows.
    void draw();
    [[nodiscard]] double factor(std::size_t row, std::size_t draw) const {
        return rows_[row].factors[draw];
    }
    /// Whether anything that matters is open, and what was measured: "212 measured collectives on
    /// 19 kinds of machine; kernels as traced".
    [[nodiscard]] bool measured(const IntervalBasis& basis) const;
    /// Whether nothing that matters was measured.
    [[nodiscard]] bool nothing(const IntervalBasis& basis) const;
    [[nodiscard]] std::string text(const IntervalBasis& basis) const;

private:
    struct Row {
        PartKind kind;
        intervals::Range range;
        std::vector<double> factors;
        [[nodiscard]] bool measured() const { return kind.unmeasured.empty() && range.measured(); }
    };
    /// Rows that are more than a hundredth of the whole.
    [[nodiscard]] std::vector<const Row*> that_matter(const IntervalBasis& basis) const;

    const intervals::Residuals& residuals_;
    std::vector<Row> rows_;
};

/// Of measurements of one kind: "212 measured collectives on 19 kinds of machine".
[[nodiscard]] std::string
measured_text(const std::string& kind, const intervals::Range& least, const intervals::Range& most);

}  // namespace switchfold
