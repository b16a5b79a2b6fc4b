// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

/// Throws std::runtime_error that names the step.
inline void check(cudaError_t error, const char* step) {
    if (error != cudaSuccess)
        throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(error));
}

/// Memory of the GPU, zeroed.
class DeviceBuffer {
public:
    explicit DeviceBuffer(std::size_t bytes) {
        check(cudaMalloc(&data_, bytes), "cudaMalloc");
        check(cudaMemset(data_, 0, bytes), "cudaMemset");
    }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    ~DeviceBuffer() { cudaFree(data_); }
    template <class T>
    T* as() const {
        return static_cast<T*>(data_);
    }

private:
    void* data_ = nullptr;
};

/// Median and quartiles of some runs, us.
struct Times {
    double median = 0;
    double low = 0;
    double high = 0;
};

inline Times summary(std::vector<double> us) {
    std::sort(us.begin(), us.end());
    const auto at = [&](double share) {
        return us[static_cast<std::size_t>(share * static_cast<double>(us.size() - 1))];
    };
    return {at(0.5), at(0.25), at(0.75)};
}

/// Times `work` on the default stream with events, after two runs that do not count.
inline Times time_on_gpu(int runs, const std::function<void()>& work) {
    cudaEvent_t start;
    cudaEvent_t end;
    check(cudaEventCreate(&start), "cudaEventCreate");
    check(cudaEventCreate(&end), "cudaEventCreate");
    std::vector<double> us;
    for (int run = -2; run < runs; ++run) {
        check(cudaEventRecord(start), "cudaEventRecord");
        work();
        check(cudaEventRecord(end), "cudaEventRecord");
        check(cudaEventSynchronize(end), "cudaEventSynchronize");
        float ms = 0;
        check(cudaEventElapsedTime(&ms, start, end), "cudaEventElapsedTime");
        if (run >= 0)
            us.push_back(1000.0 * static_cast<double>(ms));
    }
    cudaEventDestroy(start);
    cudaEventDestroy(end);
    return summary(us);
}
