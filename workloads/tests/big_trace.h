// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/tests/temporary_file.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace switchfold::test_data {

/// A trace of about `bytes` like one of PyTorch's profiler. Each kernel has its launching call, an
/// operator with shapes, flow arrows and a Python frame; some have an all-reduce next to them.
class BigTrace {
public:
    explicit BigTrace(std::uint64_t bytes) : file_("trace.json") {
        std::ofstream out(path());
        out << "{\"schemaVersion\": 1, \"traceEvents\": [\n";
        std::uint64_t written = 0;
        for (std::uint64_t i = 0; written < bytes; ++i) {
            std::string text = events(i, i * 10);
            if (i % 100 == 50)
                text += ",\n" + all_reduce(i * 10);
            out << (i == 0 ? "" : ",\n") << text;
            written += text.size() + 2;
        }
        out << "\n]}\n";
    }
    [[nodiscard]] const std::filesystem::path& path() const { return file_.path(); }

private:
    static std::string events(std::uint64_t i, std::uint64_t us) {
        const auto event = [us](const char* head, int part, const char* after, std::string args) {
            return fmt::format(
                "  {{\n    {}, \"pid\": 7, \"tid\": 7, \"ts\": {}.{}{},\n    \"args\": {{{}}}\n  "
                "}}",
                head, us, part, after, args);
        };
        const std::string arrow = event(R"("ph": "s", "cat": "ac2g", "name": "ac2g")", 5, "", "");
        const char* const frame =
            R"("ph": "X", "cat": "python_function", "name": "torch/nn/modules/module.py: _call_impl")";
        const char* const shapes =
            R"("Input Dims": [[64, 256, 56, 56], [64, 256, 56, 56], []], "Input type": ["float", "float", "Scalar"], "Concrete Inputs": ["", "", "1"])";
        const char* const launch =
            R"("ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel")";
        const char* const kernel =
            R"("ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>>")";
        const char* const resources =
            R"("queued": 0, "device": 0, "context": 1, "stream": 7, "registers per thread": 32, "shared memory": 0, "blocks per SM": 28.5, "grid": [3136, 1, 1], "block": [128, 1, 1])";
        return fmt::format(
            "{},\n{},\n{},\n{},\n{},\n{}",
            event(frame, 1, ", \"dur\": 9.375", fmt::format("\"Python id\": {}", i)),
            event(
                R"("ph": "X", "cat": "cpu_op", "name": "aten::add_")", 2, ", \"dur\": 8.125",
                fmt::format("\"External id\": {}, {}", i, shapes)),
            event(launch, 3, ", \"dur\": 5.125", fmt::format("\"correlation\": {}", i)), arrow,
            event(
                kernel, 4, ", \"dur\": 7.250",
                fmt::format("\"correlation\": {}, {}", i, resources)),
            arrow);
    }
    static std::string all_reduce(std::uint64_t us) {
        return fmt::format(
            R"({{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", )"
            R"("pid": 20, "tid": 20, "ts": {}, "dur": 15, "args": {{"device": 0, "context": 1, )"
            R"("stream": 20, "grid": [24, 1, 1], "block": [288, 1, 1], "registers per thread": 96, )"
            R"("shared memory": 0, "Collective name": "allreduce", "dtype": "Float", )"
            R"("In msg nelems": 6553600, "Out msg nelems": 6553600, "Group size": 8}}}})",
            us);
    }

    TemporaryFile file_;
};

}  // namespace switchfold::test_data
