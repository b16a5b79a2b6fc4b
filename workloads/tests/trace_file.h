// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/kineto/reader.h"
#include "workloads/tests/temporary_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace switchfold::test_data {

/// All bytes of a file.
inline std::string content_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Writes small Kineto traces. Times are microseconds as text, so that a test controls exactly what
/// the file contains.
class TraceText {
public:
    TraceText& event(
        const std::string& category, const std::string& name, const std::string& thread,
        const std::string& start, const std::string& duration, const std::string& arguments = "") {
        events_.push_back(fmt::format(
            R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 1, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
            category, name, thread, start, duration, arguments));
        return *this;
    }
    /// A launching call on `thread` and the operation that it launches.
    TraceText& launch(
        const std::string& name, const std::string& launch, const std::string& stream,
        const std::string& start, const std::string& duration, const std::string& arguments = "",
        const std::string& thread = "1") {
        ++correlation_;
        event(
            "cuda_runtime", "cudaLaunchKernel", thread, launch, "2",
            fmt::format(R"("correlation": {})", correlation_));
        return event(
            "kernel", name, stream, start, duration,
            fmt::format(
                R"("stream": {}, "correlation": {}, "grid": [8, 1, 1], "block": [128, 1, 1]{}{})",
                stream, correlation_, arguments.empty() ? "" : ", ", arguments));
    }
    TraceText& raw(std::string text) {
        events_.push_back(std::move(text));
        return *this;
    }
    TraceText& header(std::string text) {
        header_ = std::move(text);
        return *this;
    }
    [[nodiscard]] std::string text() const {
        return fmt::format("{{{} \"traceEvents\": [{}]}}", header_, fmt::join(events_, ",\n"));
    }
    [[nodiscard]] TraceWorkload read() const {
        const TemporaryFile file("trace.json", text());
        return read_kineto({{file.path()}});
    }

private:
    std::string header_ =
        R"("deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 84000000000}], "distributedInfo": {"rank": 0, "world_size": 2},)";
    std::vector<std::string> events_;
    int correlation_ = 0;
};

}  // namespace switchfold::test_data
