// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/planner/planner.h"
#include "sim/pool/progress.h"
#include "sim/sweep/sweep.h"

#include <chrono>
#include <string>

namespace switchfold {

/// One line on stderr with share, speed and time left, rewritten at most ten times a second; silent
/// if stderr is not a terminal.
class ProgressLine {
public:
    /// `quiet`: silent on a terminal as well.
    explicit ProgressLine(bool quiet);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ProgressLine(ProgressLine&&) = delete;
    ProgressLine& operator=(ProgressLine&&) = delete;

    void show(const WorkerProgress& progress);
    void show(const SweepProgress& progress);
    void show(const PlannerProgress& progress);
    /// Clears the line before other text is written to stderr.
    void clear();

private:
    /// Whether the caller should write a new line.
    bool due();
    bool terminal_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point last_;
};

}  // namespace switchfold
