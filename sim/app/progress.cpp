// SPDX-License-Identifier: Apache-2.0
#include "sim/app/progress.h"

#include <fmt/format.h>

#include <cstdio>

#include <unistd.h>

namespace switchfold {

ProgressLine::ProgressLine(bool quiet) : terminal_(!quiet && isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
    clear();
}

void ProgressLine::clear() {
    if (shown_)
        std::fputs("\r\033[K", stderr);
    shown_ = false;
}

void ProgressLine::show(const WorkerProgress& progress) {
    if (!terminal_)
        return;
    const auto now = std::chrono::steady_clock::now();
    if (shown_ && now - last_ < std::chrono::milliseconds(100))
        return;
    last_ = now;
    shown_ = true;
    std::string left = "?";
    if (progress.share > 0.01)
        left = fmt::format("{:.0f} s", progress.elapsed_s * (1 / progress.share - 1));
    fmt::print(
        stderr,
        "\r\033[K{:3.0f} %  {:.1f} M events  {:.0f} s, {} left",
        progress.share * 100,
        static_cast<double>(progress.events) * 1e-6,
        progress.elapsed_s,
        left);
    std::fflush(stderr);
}

}  // namespace switchfold
