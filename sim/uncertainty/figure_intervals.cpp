// SPDX-License-Identifier: Apache-2.0
#include "sim/uncertainty/figure_intervals.h"

#include "sim/intervals/effects.h"
#include "sim/output/figures.h"
#include "sim/uncertainty/part_draws.h"
#include "workloads/graph/execution_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <string_view>

namespace switchfold {

namespace {

/// Figures of the time in which kernels of a phase run, and of their slowdown.
struct PhaseFigures {
    Phase phase;
    std::string_view time;
    std::string_view slowdown;
    std::optional<double> ScenarioFigures::*low;
};
constexpr PhaseFigures kPhaseFigures[] = {
    {Phase::kForward, "forward_us", "forward_slowdown", &ScenarioFigures::forward_slowdown_low},
    {Phase::kBackward, "backward_us", "backward_slowdown", &ScenarioFigures::backward_slowdown_low},
    {Phase::kOptimizer, "optimizer_us", "optimizer_slowdown",
     &ScenarioFigures::optimizer_slowdown_low},
    {Phase::kOther, "other_us", "other_slowdown", &ScenarioFigures::other_slowdown_low}};

const Figure& figure_of(std::string_view key) {
    return *std::find_if(std::begin(kFigures), std::end(kFigures), [&](const Figure& figure) {
        return figure.key == key;
    });
}

/// A case's parts in each draw.
class CaseDraws {
public:
    CaseDraws(const PartsOfStep& parts, PartDraws& draws) : parts_(parts), draws_(draws) {
        for (const PartKind& kind : parts.kinds)
            rows_.push_back(draws.row(kind));
    }

    [[nodiscard]] const PartsOfStep& parts() const { return parts_; }
    [[nodiscard]] double busy(const BusyParts& busy, std::size_t draw) const {
        return alone(busy, draw) + std::min(
                                       lost(busy.lost_us, alone(busy), draw),
                                       std::max(busy.lost_us, most_lost(busy, draw)));
    }
    [[nodiscard]] static double alone(const BusyParts& busy) {
        double us = busy.given_us;
        for (const auto& [kind, part] : busy.alone_us)
            us += part;
        return us;
    }
    [[nodiscard]] double alone(const BusyParts& busy, std::size_t draw) const {
        double us = busy.given_us;
        for (const auto& [kind, part] : busy.alone_us)
            us += part * draws_.factor(rows_[kind], draw) * between(draw);
        return us;
    }
    [[nodiscard]] double exposed(std::size_t draw) const {
        double us = 0;
        for (const ExposedChain& chain : parts_.exposed) {
            double one = chain.exposed_us;
            for (const auto& [kind, part] : chain.chain_us)
                one += part * (draws_.factor(rows_[kind], draw) - 1);
            us += std::max(0.0, one);
        }
        return us;
    }
    [[nodiscard]] double step(std::size_t draw) const {
        return busy(parts_.busy, draw) + exposed(draw) + parts_.rest_us;
    }
    /// What is lost beyond a time alone.
    [[nodiscard]] double lost(double us, double alone, std::size_t draw) const {
        return alone > 0 ? alone * slowdown(us / alone, draw) : us;
    }
    [[nodiscard]] double slowdown(double share, std::size_t draw) const {
        return parts_.kinds.empty()
                   ? share
                   : intervals::share_with_error(share, draws_.factor(rows_[parts_.overlap], draw));
    }
    /// A phase's slowdown. Kernels lose nothing without communication beside them, and at most all
    /// of the time in which it is.
    [[nodiscard]] double slowdown(double share, const BusyParts& busy, std::size_t draw) const {
        const double us = alone(busy);
        const double drawn = slowdown(share, draw);
        return us > 0 ? std::min(drawn, std::max(share, most_lost(busy, draw) / us)) : drawn;
    }
    /// The row of its first kind of collective.
    [[nodiscard]] std::optional<std::size_t> collective() const {
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (parts_.kinds[i].like.kind == "collective")
                return rows_[i];
        return std::nullopt;
    }

    [[nodiscard]] IntervalBasis of_overlap() const {
        IntervalBasis basis;
        if (!parts_.kinds.empty())
            basis.add(rows_[parts_.overlap], 1);
        return basis;
    }
    [[nodiscard]] IntervalBasis of_busy(const BusyParts& busy) const {
        IntervalBasis basis;
        basis.given = busy.given_us;
        for (const auto& [kind, us] : busy.alone_us)
            basis.add(rows_[kind], us);
        if (!parts_.kinds.empty())
            basis.add(rows_[parts_.overlap], busy.lost_us);
        if (parts_.kernels_between.first < parts_.kernels_between.second)
            basis.more = "; kernels of unknown shape wait for SMs or for memory";
        return basis;
    }
    /// Of collectives as much as they take in chains: their errors are of that.
    [[nodiscard]] IntervalBasis of_exposed() const {
        IntervalBasis basis;
        for (const ExposedChain& chain : parts_.exposed)
            for (const auto& [kind, us] : chain.chain_us)
                basis.add(rows_[kind], us);
        return basis;
    }
    [[nodiscard]] IntervalBasis of_step() const {
        IntervalBasis basis = of_busy(parts_.busy);
        basis.add(of_exposed());
        basis.rest = parts_.rest_us;
        return basis;
    }

private:
    /// Evenly over all draws, in an order of its own, and the same in every case.
    [[nodiscard]] double between(std::size_t draw) const {
        const auto& [least, most] = parts_.kernels_between;
        const double turns = static_cast<double>(draw) * std::numbers::phi;
        return least + (most - least) * (turns - std::floor(turns));
    }

    /// The time of communication beside kernels, longer if such collectives may take longer.
    [[nodiscard]] double most_lost(const BusyParts& busy, std::size_t draw) const {
        const auto row = collective();
        return busy.beside_us * (row ? std::max(1.0, draws_.factor(*row, draw)) : 1.0);
    }

    const PartsOfStep& parts_;
    PartDraws& draws_;
    std::vector<std::size_t> rows_;  ///< by index of kind
};

class Teller {
public:
    Teller(std::span<IntervalCase> cases, const intervals::Residuals& residuals) :
        cases_(cases), residuals_(residuals), draws_(residuals) {
        for (const IntervalCase& one : cases_)
            drawn_.emplace_back(one.parts, draws_);
        draws_.draw();
    }

    void tell() {
        for (std::size_t i = 0; i < cases_.size(); ++i)
            if (cases_[i].figures != nullptr)
                tell(i);
    }

private:
    void tell(std::size_t i) {
        const IntervalCase& one = cases_[i];
        const CaseDraws& drawn = drawn_[i];
        ScenarioFigures& figures = *one.figures;
        tell_step(one, drawn, figures);
        for (const PhaseFigures& phase : kPhaseFigures) {
            const BusyParts& busy = one.parts.phases[static_cast<std::size_t>(phase.phase)];
            set(figures, phase.time, drawn.of_busy(busy),
                [&](double /*us*/, std::size_t draw) { return drawn.busy(busy, draw); });
            tell_slowdown(
                drawn, phase.slowdown, figures.*phase.low, figures,
                [&](double slowdown, std::size_t draw) {
                    return drawn.slowdown(slowdown, busy, draw);
                });
        }
        set(figures, "exposed_communication_us", drawn.of_exposed(),
            [&](double /*us*/, std::size_t draw) { return drawn.exposed(draw); });
        tell_loops(drawn, figures);
        if (one.baseline)
            tell_speedup(one, drawn, drawn_[*one.baseline], figures);
        open(figures, "exposed_copies_us", "unmeasured: no copies with hosts");
        open(figures, "lost_to_others", "unmeasured: no workloads that share a machine");
    }

    /// Sets an interval from a figure's value in each draw, if the figure is there.
    template <class Draw>
    void
    set(ScenarioFigures& figures, std::string_view key, const IntervalBasis& basis, Draw draw) {
        const std::optional<double> value = figure_of(key).of(figures);
        if (!value || !(basis.all() > 0))
            return;
        FigureInterval& interval = figures.intervals[std::string(key)];
        interval.like = draws_.text(basis);
        interval.measured = draws_.measured(basis);
        if (draws_.nothing(basis))
            return;
        std::vector<double> values;
        for (std::size_t i = 0; i < kIntervalDraws; ++i)
            values.push_back(draw(*value, i));
        std::sort(values.begin(), values.end());
        constexpr std::size_t kTail = kIntervalDraws / 20;  // 5 % on either side
        interval.low = std::min(*value, values[kTail]);
        interval.high = std::max(*value, values[kIntervalDraws - 1 - kTail]);
    }

    static void open(ScenarioFigures& figures, std::string_view key, std::string why) {
        if (figure_of(key).of(figures))
            figures.intervals[std::string(key)].like = std::move(why);
    }

    /// The iteration's, and those of figures that go with it or against it.
    void tell_step(const IntervalCase& one, const CaseDraws& drawn, ScenarioFigures& figures) {
        if (!(one.parts.iteration_us > 0))
            return;
        // Over a whole training or run, steps are longer or shorter by the same.
        set(figures, "iteration_us", drawn.of_step(), [&](double us, std::size_t draw) {
            return us * drawn.step(draw) / one.parts.iteration_us;
        });
        const auto found = figures.intervals.find("iteration_us");
        if (found == figures.intervals.end() || !(figures.iteration_us > 0))
            return;
        FigureInterval& iteration = found->second;
        if (one.parts.step)
            widen(iteration, figures.iteration_us, one.parts);
        if (one.parts.open && iteration.low) {
            iteration.low = std::max(0.0, *iteration.low - one.parts.open->less_us);
            iteration.high = *iteration.high + one.parts.open->more_us;
            iteration.like += "; " + one.parts.open->why;
        }
        for (const std::string_view key : {"time_to_target_us", "alone_us"})
            if (const auto value = figure_of(key).of(figures))
                figures.intervals[std::string(key)] =
                    scaled(iteration, *value / figures.iteration_us);
        for (const std::string_view key : {"samples_per_s", "tflops_per_gpu", "run_samples_per_s"})
            if (const auto value = figure_of(key).of(figures)) {
                FigureInterval& pace = figures.intervals[std::string(key)];
                pace = inverse_interval(*value, figures.iteration_us, iteration);
                if (one.of_run)
                    tell_of_run(pace);
            }
    }

    /// Takes the range of whole steps where it is the wider.
    void widen(FigureInterval& iteration, double us, const PartsOfStep& parts) const {
        intervals::Range range = residuals_.range(parts.step->like);
        if (!parts.step->unmeasured.empty() || !range.measured())
            return;
        // Those that were measured are of kernels whose shapes are known.
        double scaled = 0;
        for (const auto& [kind, part] : parts.busy.alone_us)
            scaled += part / parts.iteration_us;
        range.low *= 1 + scaled * (parts.kernels_between.first - 1);
        range.high *= 1 + scaled * (parts.kernels_between.second - 1);
        const std::string steps = measured_text("step", range, range);
        if (iteration.low && *iteration.high / *iteration.low >= range.high / range.low) {
            iteration.like += "; wider than " + steps;
            return;
        }
        iteration.like = fmt::format("{}, wider than its parts ({})", steps, iteration.like);
        iteration.low = us * range.low;
        iteration.high = us * range.high;
        iteration.measured = true;
    }

    static void tell_of_run(FigureInterval& interval) {
        interval.measured = false;
        interval.like = "unmeasured: what changes of members cost; its steps: " + interval.like;
    }

    /// No effect stays none; its range by what was not measured on this GPU is part of it.
    template <class Draw>
    void tell_slowdown(
        const CaseDraws& drawn, std::string_view key, std::optional<double> low,
        ScenarioFigures& figures, Draw draw) {
        set(figures, key, drawn.of_overlap(), draw);
        const auto found = figures.intervals.find(key);
        if (low && found != figures.intervals.end() && found->second.low)
            found->second.low = std::min(*found->second.low, *low);
    }

    /// Of a kernel beside a collective, each in a loop.
    void tell_loops(const CaseDraws& drawn, ScenarioFigures& figures) {
        if (!figures.kernel_alone_us || !figures.collective_alone_us)
            return;
        const BusyParts& busy = drawn.parts().busy;
        const double alone = drawn.alone(busy);
        const auto kernel = [&](std::size_t draw) {
            return alone > 0 ? drawn.alone(busy, draw) / alone : 1.0;
        };
        BusyParts only = busy;
        only.lost_us = 0;
        IntervalBasis basis = drawn.of_busy(only);
        set(figures, "kernel_alone_us", basis,
            [&](double us, std::size_t draw) { return us * kernel(draw); });
        basis.add(drawn.of_overlap());
        const double kernel_lost = *figures.kernel_beside_us - *figures.kernel_alone_us;
        set(figures, "kernel_beside_us", basis, [&](double /*us*/, std::size_t draw) {
            return *figures.kernel_alone_us * kernel(draw) +
                   drawn.lost(kernel_lost, *figures.kernel_alone_us, draw);
        });
        const auto slowdown = [&](double share, std::size_t draw) {
            return drawn.slowdown(share, draw);
        };
        tell_slowdown(drawn, "kernel_slowdown", figures.kernel_slowdown_low, figures, slowdown);
        tell_slowdown(drawn, "collective_slowdown", std::nullopt, figures, slowdown);
        const std::optional<std::size_t> collective = drawn.collective();
        if (!collective)
            return;
        IntervalBasis of_collective;
        of_collective.add(*collective, 1);
        set(figures, "collective_alone_us", of_collective,
            [&](double us, std::size_t draw) { return us * draws_.factor(*collective, draw); });
        of_collective.add(drawn.of_overlap());
        const double lost = *figures.collective_beside_us - *figures.collective_alone_us;
        set(figures, "collective_beside_us", of_collective, [&](double /*us*/, std::size_t draw) {
            return *figures.collective_alone_us * draws_.factor(*collective, draw) +
                   drawn.lost(lost, *figures.collective_alone_us, draw);
        });
    }

    void tell_speedup(
        const IntervalCase& one, const CaseDraws& drawn, const CaseDraws& baseline,
        ScenarioFigures& figures) {
        const double now = drawn.parts().iteration_us;
        const double then = baseline.parts().iteration_us;
        if (!(now > 0) || !(then > 0))
            return;
        IntervalBasis basis = drawn.of_step();
        basis.add(baseline.of_step());
        set(figures, "speedup", basis, [&](double gain, std::size_t draw) {
            return gain * (baseline.step(draw) / then) / (drawn.step(draw) / now);
        });
        const auto gain = figures.intervals.find("speedup");
        if (const auto& open = baseline.parts().open;
            open && gain != figures.intervals.end() && gain->second.low && &drawn != &baseline) {
            gain->second.low = *gain->second.low * std::max(0.0, 1 - open->less_us / then);
            gain->second.high = *gain->second.high * (1 + open->more_us / then);
        }
        if (const auto found = figures.intervals.find("speedup");
            one.of_run && found != figures.intervals.end())
            tell_of_run(found->second);
    }

    std::span<IntervalCase> cases_;
    const intervals::Residuals& residuals_;
    PartDraws draws_;
    std::vector<CaseDraws> drawn_;
};

using RangeOf = intervals::Range (intervals::Residuals::*)(const intervals::Likeness&) const;

FigureInterval interval_of(
    double value, const PartKind& kind, const intervals::Residuals& residuals, RangeOf range_of) {
    FigureInterval interval;
    const intervals::Range range =
        kind.unmeasured.empty() ? (residuals.*range_of)(kind.like) : intervals::Range();
    interval.measured = range.measured();
    if (!interval.measured) {
        interval.like =
            "unmeasured: " + (kind.unmeasured.empty() ? range.nearest : kind.unmeasured);
        return interval;
    }
    interval.low = value * range.low;
    interval.high = value * range.high;
    interval.like = measured_text(kind.like.kind, range, range);
    return interval;
}

}  // namespace

void tell_intervals(std::span<IntervalCase> cases, const intervals::Residuals& residuals) {
    Teller(cases, residuals).tell();
}

FigureInterval
time_interval(double us, const PartKind& kind, const intervals::Residuals& residuals) {
    return interval_of(us, kind, residuals, &intervals::Residuals::range);
}

FigureInterval
ratio_interval(double ratio, const PartKind& kind, const intervals::Residuals& residuals) {
    return interval_of(ratio, kind, residuals, &intervals::Residuals::range_of_pairs);
}

FigureInterval scaled(FigureInterval interval, double by) {
    if (interval.low) {
        interval.low = *interval.low * by;
        interval.high = *interval.high * by;
    }
    return interval;
}

FigureInterval inverse_interval(double value, double us, const FigureInterval& of_time) {
    FigureInterval interval = of_time;
    if (of_time.low && us > 0) {
        interval.low = value * us / *of_time.high;
        interval.high = *of_time.low > 0 ? value * us / *of_time.low : value;
    }
    return interval;
}

}  // namespace switchfold
