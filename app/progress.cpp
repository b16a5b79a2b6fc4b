// SPDX-License-Identifier: Apache-2.0
#include "app/progress.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <string>

#include <unistd.h>

namespace switchfold {

namespace {

/// Extrapolated from the pace so far; "?" if unknown.
std::string time_left(double share, double elapsed_s) {
    constexpr double kEnough = 0.01;
    return share > kEnough ? fmt::format("{:.0f} s", elapsed_s * (1 / share - 1)) : "?";
}

std::string text_of(const WorkerProgress& progress) {
    if (progress.phase == WorkPhase::kLearning)
        return " of the trainings";
    return fmt::format(
        "{}  {:.1f} M events",
        progress.phase == WorkPhase::kPreparing ? " of the workload prepared" : "",
        static_cast<double>(progress.events) * 1e-6);
}

}  // namespace

ProgressLine::ProgressLine(bool quiet) : terminal_(!quiet && isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
    clear();
}

void ProgressLine::clear() {
    if (shown_)
        std::fputs("\r\033[K", stderr);
    shown_ = false;
}

bool ProgressLine::due() {
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ || (shown_ && now - last_ < std::chrono::milliseconds(100)))
        return false;
    last_ = now;
    shown_ = true;
    return true;
}

void ProgressLine::show(const WorkerProgress& progress) {
    if (!due())
        return;
    fmt::print(
        stderr, "\r\033[K{:3.0f} %{}  {:.0f} s, {} left", progress.share * 100, text_of(progress),
        progress.elapsed_s, time_left(progress.share, progress.elapsed_s));
    std::fflush(stderr);
}

void ProgressLine::show(const SweepProgress& progress) {
    if (!due())
        return;
    const auto runs = static_cast<double>(progress.runs);
    fmt::print(
        stderr, "\r\033[K{:.0f} of {} experiments  {:.1f} a second  {} failed  {:.0f} s, {} left",
        std::floor(progress.ended), progress.runs,
        progress.elapsed_s > 0 ? progress.ended / progress.elapsed_s : 0.0, progress.failed,
        progress.elapsed_s, time_left(runs > 0 ? progress.ended / runs : 1.0, progress.elapsed_s));
    std::fflush(stderr);
}

void ProgressLine::show(const PlannerProgress& progress) {
    if (!due())
        return;
    if (progress.judged < 1) {
        fmt::print(
            stderr, "\r\033[K{:.0f} % of the plans bounded  {:.0f} s, {} left",
            100 * progress.judged, progress.elapsed_s,
            time_left(progress.judged, progress.elapsed_s));
        std::fflush(stderr);
        return;
    }
    std::string text = fmt::format("\r\033[K{} plans simulated", progress.simulated);
    if (progress.best_s > 0)
        text += fmt::format(
            ", best {:.3f} ms; {} may be faster, by at most {:.1f} %", progress.best_s * 1e3,
            progress.open,
            progress.open > 0 ? 100 * (1 - progress.bound_s / progress.best_s) : 0.0);
    text += fmt::format("  {:.0f} s", progress.elapsed_s);
    if (progress.left_s > 0)
        text += fmt::format(", at most {:.0f} s left", progress.left_s);
    fmt::print(stderr, "{}", text);
    std::fflush(stderr);
}

}  // namespace switchfold
