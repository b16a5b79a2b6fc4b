// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/stream_priority.h"

#include <algorithm>

namespace switchfold {

namespace {

constexpr std::uint64_t kWarp = 32;
// The most blocks of any SM (CUDA C++ programming guide, compute capabilities 5 to 12): more than
// an SM has makes a kernel's blocks seem to be placed sooner than they are.
constexpr std::uint64_t kBlocks = 32;

/// What a block takes of an SM, or an SM has.
struct Room {
    std::uint64_t threads = 0;
    std::uint64_t registers = 0;
    std::uint64_t shared_memory = 0;

    [[nodiscard]] bool known() const { return threads > 0 && registers > 0; }
    /// Blocks that fit.
    [[nodiscard]] std::uint64_t over(const Room& block) const {
        const std::uint64_t fit =
            std::min({kBlocks, threads / block.threads, registers / block.registers});
        return block.shared_memory == 0 ? fit : std::min(fit, shared_memory / block.shared_memory);
    }
    /// What so many blocks, which fit, leave.
    [[nodiscard]] Room without(const Room& block, std::uint64_t blocks) const {
        return {
            threads - blocks * block.threads, registers - blocks * block.registers,
            shared_memory - blocks * block.shared_memory};
    }
};

Room block_of(const GpuTask& task) {
    const std::uint64_t warps = (task.block.count() + kWarp - 1) / kWarp;
    return {warps * kWarp, warps * kWarp * task.registers_per_thread, task.shared_memory};
}

class Overtaking {
public:
    explicit Overtaking(const RawTrace& raw) :
        raw_(raw),
        sm_{raw.limits.threads, raw.limits.registers, raw.limits.shared_memory},
        counts_(raw.streams.size(), 0) {}

    std::vector<std::uint32_t> count() {
        if (!sm_.known() || sm_.shared_memory == 0 || raw_.report.sms == 0)
            return counts_;
        collect();
        if (communication_.empty())
            return counts_;
        for (const RawGpuEvent& gpu : raw_.gpu.pass())
            if (gpu.work == GpuWork::kKernel)
                look_beside(gpu);
        return counts_;
    }

private:
    struct Communication {
        std::uint64_t start = 0;
        std::uint64_t ready = 0;  ///< no earlier than this
        std::uint32_t stream = 0;
        Room block;
        bool counted = false;
    };

    void collect() {
        std::vector<std::uint64_t> busy_until(raw_.streams.size(), 0);
        for (const RawGpuEvent& gpu : raw_.gpu.pass()) {
            std::uint64_t& busy = busy_until[gpu.stream];
            if (gpu.work == GpuWork::kCommunication) {
                const Room block = block_of(raw_.tasks[gpu.task]);
                if (block.known())
                    communication_.push_back(
                        {gpu.start, std::max(busy, gpu.launch), gpu.stream, block});
            }
            busy = std::max(busy, gpu.end());
        }
        std::sort(communication_.begin(), communication_.end(), [](const auto& a, const auto& b) {
            return a.start < b.start;
        });
    }

    void look_beside(const RawGpuEvent& kernel) {
        const GpuTask& task = raw_.tasks[kernel.task];
        const Room block = block_of(task);
        const std::uint64_t held = block.known() ? sm_.over(block) : 0;
        // Blocks are placed evenly over a kernel's time. Its last two waves leave room for doubt.
        constexpr double kDoubtful = 2;
        const double doubtful = kDoubtful * static_cast<double>(held * raw_.report.sms) /
                                static_cast<double>(task.grid.count());
        if (held == 0 || doubtful >= 1)
            return;
        const std::uint64_t until =
            kernel.start +
            static_cast<std::uint64_t>(static_cast<double>(kernel.duration) * (1 - doubtful));
        const Room left = sm_.without(block, held);
        for (auto at = std::upper_bound(
                 communication_.begin(), communication_.end(), kernel.start,
                 [](std::uint64_t time, const Communication&c) { return time < c.start; });
             at != communication_.end() && at->start < until; ++at) {
            const bool same_gpu =
                raw_.streams[at->stream].device == raw_.streams[kernel.stream].device;
            if (at->counted || !same_gpu || at->stream == kernel.stream ||
                at->ready <= kernel.start || left.over(at->block) > 0)
                continue;
            at->counted = true;
            ++counts_[at->stream];
        }
    }

    const RawTrace& raw_;
    const Room sm_;
    std::vector<Communication> communication_;  ///< by start
    std::vector<std::uint32_t> counts_;
};

}  // namespace

std::vector<std::uint32_t> count_overtaking(const RawTrace& raw) {
    return Overtaking(raw).count();
}

}  // namespace switchfold
