// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/stream_overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace switchfold {

namespace {

// Start and duration are each rounded to whole microseconds, so two ends may differ by this (ps).
constexpr std::uint64_t kRounding = 2'000'000;
constexpr std::uint64_t kMicrosecond = 1'000'000;
// The first that starts a kernel before the one that it waits for has ended.
constexpr std::uint32_t kLaunchesAhead = 9;

bool is_whole(const RawGpuEvent& gpu) {
    return gpu.start % kMicrosecond == 0 && gpu.duration % kMicrosecond == 0;
}

bool of_one_graph(const RawGpuEvent& a, const RawGpuEvent& b) {
    return a.of_graph && b.of_graph && a.launch_thread == b.launch_thread &&
           a.launch_end == b.launch_end;
}

class Parting {
public:
    explicit Parting(RawTrace& raw) : raw_(raw), last_(raw.streams.size(), kNone) {}

    void run() {
        for (std::size_t i = 0; i < raw_.gpu.size(); ++i) {
            raw_.gpu.forget_at(i);
            RawGpuEvent& gpu = raw_.gpu[i];
            whole_ = whole_ && is_whole(gpu);
            std::size_t& last = last_[gpu.stream];
            if (last != kNone && gpu.start < raw_.gpu[last].end())
                part(raw_.gpu[last], gpu);
            if (last == kNone || gpu.end() > raw_.gpu[last].end())
                last = i;
        }
        report();
    }

private:
    static constexpr std::size_t kNone = SIZE_MAX;

    void part(RawGpuEvent& before, RawGpuEvent& gpu) {
        const std::uint64_t end = before.end();
        const std::uint64_t overlap = end - gpu.start;
        const bool within = gpu.end() <= end;
        if (overlap > kRounding && gpu.start > before.start && of_one_graph(before, gpu) &&
            (within || ends_late_only())) {
            before.duration = gpu.start - before.start;
            latest_ = std::max(latest_, overlap);
            ++cut_;
        } else if (!within || overlap <= kRounding) {
            if (!within)
                gpu.duration = gpu.end() - end;
            gpu.start = end;
            furthest_ = std::max(furthest_, overlap);
            ++moved_;
        }
    }

    [[nodiscard]] bool ends_late_only() const {
        return raw_.limits.compute_major != 0 && raw_.limits.compute_major < kLaunchesAhead;
    }

    static std::string operations(std::uint64_t count) {
        return count == 1 ? "1 operation" : fmt::format("{} operations", count);
    }

    void report() const {
        if (moved_ > 0) {
            raw_.report.mended["operations moved behind the one before them on their stream"] =
                moved_;
            raw_.report.warnings.push_back(fmt::format(
                "{} began up to {:.3f} us before the one before on the stream had ended ({}): "
                "moved to that end",
                operations(moved_), to_microseconds(Time(furthest_)),
                whole_ ? "the times are whole microseconds" : "launched ahead, or clock noise"));
        }
        if (cut_ > 0) {
            raw_.report.mended["operations of CUDA graphs that ended after their successor began"] =
                cut_;
            raw_.report.warnings.push_back(fmt::format(
                "{} of CUDA graphs ended up to {:.3f} us after the next had begun (the end is "
                "stamped late beside traffic, and inside a graph nobody waits for that): ended at "
                "that begin",
                operations(cut_), to_microseconds(Time(latest_))));
        }
    }

    RawTrace& raw_;
    std::vector<std::size_t> last_;  ///< operation of a stream that ends last so far
    bool whole_ = true;
    std::uint64_t moved_ = 0;
    std::uint64_t furthest_ = 0;
    std::uint64_t cut_ = 0;
    std::uint64_t latest_ = 0;
};

}  // namespace

void part_overlapping(RawTrace& raw) {
    Parting(raw).run();
}

}  // namespace switchfold
