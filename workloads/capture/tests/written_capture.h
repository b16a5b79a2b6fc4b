// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/runtime/clock.h"
#include "workloads/capture/runtime/recorder.h"

#include <filesystem>
#include <memory>
#include <string_view>

namespace switchfold::capture {

/// Writes a capture like that of a training process: API calls and the GPU work that they launch.
/// Times are in ns since the capture's start.
class WrittenCapture {
public:
    static constexpr std::uint32_t kThread = 100;
    static constexpr std::uint64_t kCommunicator = 0xabcd;

    WrittenCapture(
        const std::filesystem::path& folder, std::uint32_t rank, std::uint32_t ranks,
        bool counters = false) {
        Settings settings;
        settings.directory = folder.string();
        settings.rank = rank;
        settings.world_size = ranks;
        settings.counters = counters;
        recorder_ = Recorder::open(settings);
        base_ = clock_ns();
        Device device;
        device.name = "NVIDIA H100 80GB HBM3";
        device.sms = 132;
        device.memory_bytes = 80'000'000'000;
        recorder_->add(device);
        recorder_->add(Communicator{kCommunicator, "world", rank, ranks, 1});
    }

    WrittenCapture& kernel(
        std::string_view name, std::uint64_t called, std::uint64_t start, std::uint64_t end,
        std::uint32_t stream = 7) {
        call("cudaLaunchKernel_v7000", called);
        Kernel kernel;
        kernel.start = base_ + start;
        kernel.end = base_ + end;
        kernel.stream = stream;
        kernel.correlation = correlation_;
        kernel.name = recorder_->name(name);
        kernel.grid = {16, 2, 1};
        kernel.block = {256, 1, 1};
        kernel.registers_per_thread = 64;
        kernel.static_shared = 1000;
        kernel.dynamic_shared = 24;
        recorder_->add(kernel);
        return *this;
    }
    WrittenCapture& copy(std::uint64_t called, std::uint64_t start, std::uint64_t end) {
        call("cudaMemcpyAsync_v3020", called);
        Copy copy;
        copy.start = base_ + start;
        copy.end = base_ + end;
        copy.stream = 7;
        copy.correlation = correlation_;
        copy.bytes = 4096;
        copy.direction = CopyDirection::kHostToDevice;
        recorder_->add(copy);
        return *this;
    }
    WrittenCapture& call(std::string_view name, std::uint64_t at) {
        recorder_->add(Call{
            base_ + at, base_ + at + 10, kThread, ++correlation_, recorder_->name(name), false, 0});
        return *this;
    }
    WrittenCapture& range(std::string_view name, std::uint64_t start, std::uint64_t end) {
        ++range_;
        const std::uint32_t id = recorder_->name(name);
        recorder_->add(Marker{base_ + start, range_, Marker::Edge::kStart, kThread, id, 0});
        recorder_->add(Marker{base_ + end, range_, Marker::Edge::kEnd, kThread, 0, 0});
        return *this;
    }
    WrittenCapture& nccl(
        const char* function, std::uint64_t at, std::uint64_t count,
        std::uint32_t thread = kThread) {
        NcclCall call;
        call.start = base_ + at;
        call.thread = thread;
        call.communicator = kCommunicator;
        call.function = function;
        call.datatype = "ncclBfloat16";
        call.count = count;
        call.channels = 24;
        call.algorithm = "NVLS";
        call.protocol = "SIMPLE";
        recorder_->add(call);
        return *this;
    }
    /// A send or receive, which NCCL tells of without algorithm.
    WrittenCapture&
    transfer(const char* function, std::uint64_t at, std::uint64_t count, std::uint32_t peer) {
        NcclCall call;
        call.start = base_ + at;
        call.thread = kThread;
        call.communicator = kCommunicator;
        call.function = function;
        call.datatype = "ncclBfloat16";
        call.count = count;
        call.root_or_peer = peer;
        recorder_->add(call);
        return *this;
    }
    WrittenCapture& add(const Record& record) {
        recorder_->add(record);
        return *this;
    }
    WrittenCapture& counters(
        std::string_view kernel, std::uint32_t ordinal, std::uint64_t read, std::uint64_t written) {
        return add(
            Counters{recorder_->name(kernel), {16, 2, 1}, {256, 1, 1}, ordinal, read, written});
    }
    void end() { recorder_->finish(); }
    /// The clock value at which the capture's times start.
    [[nodiscard]] std::uint64_t clock() const { return base_; }

private:
    std::unique_ptr<Recorder> recorder_;
    std::uint64_t base_ = 0;
    std::uint32_t correlation_ = 0;
    std::uint32_t range_ = 0;
};

}  // namespace switchfold::capture
