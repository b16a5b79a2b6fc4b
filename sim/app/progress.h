// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/progress.h"

#include <chrono>

namespace switchfold {

/// One line on stderr with share, speed and time left, rewritten at most ten times a second; silent
/// when stderr is no terminal.
class ProgressLine {
public:
    /// `quiet`: silent on a terminal too.
    explicit ProgressLine(bool quiet);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ProgressLine(ProgressLine&&) = delete;
    ProgressLine& operator=(ProgressLine&&) = delete;

    void show(const WorkerProgress& progress);
    /// Makes room for other text on stderr.
    void clear();

private:
    bool terminal_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point last_;
};

}  // namespace switchfold
