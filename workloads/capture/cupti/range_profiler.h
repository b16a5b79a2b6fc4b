// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace switchfold::capture {

/// Traffic between a kernel and the GPU's memory.
struct DramBytes {
    std::uint64_t read = 0;
    std::uint64_t written = 0;
};

/// CUPTI's range profiler on one context, with one range per kernel. Both metrics fit one pass on
/// the GPUs that CUPTI supports, so each kernel runs once, but kernels are serialised. All
/// functions throw std::runtime_error if CUPTI refuses.
class RangeProfiler {
public:
    RangeProfiler(CUcontext context, std::size_t batch);
    RangeProfiler(const RangeProfiler&) = delete;
    RangeProfiler& operator=(const RangeProfiler&) = delete;
    ~RangeProfiler();

    [[nodiscard]] bool running() const { return running_; }
    void start();
    /// Stops and returns the bytes of each kernel since start(), in launch order.
    [[nodiscard]] std::vector<DramBytes> stop();

private:
    void make_host(CUcontext context);
    void make_config();
    void clear_counters();
    [[nodiscard]] DramBytes evaluate(std::size_t range);

    std::size_t batch_;
    CUpti_Profiler_Host_Object* host_ = nullptr;
    CUpti_RangeProfiler_Object* profiler_ = nullptr;
    std::vector<std::uint8_t> config_;
    std::vector<std::uint8_t> counters_;
    bool running_ = false;
};

}  // namespace switchfold::capture
