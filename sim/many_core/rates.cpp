// SPDX-License-Identifier: Apache-2.0
#include "sim/many_core/rates.h"

#include "models/coprocessor/processor.h"
#include "sim/config/parameter_units.h"

namespace switchfold {

ProcessorParams load_processor(const std::filesystem::path& file) {
    return read_params_file<ProcessorParams>(file, {});
}

double stream_rate(
    const ProcessorParams& processor, StreamKernel kernel, std::uint32_t cores,
    std::uint32_t threads_per_core, std::uint64_t elements) {
    constexpr std::uint64_t kWord = 8;
    // 64-bit values take two of the 32-bit lanes that loops count.
    constexpr std::uint64_t kHalves = 2;
    const bool two = kernel == StreamKernel::kAdd || kernel == StreamKernel::kTriad;
    offload::ElementLoop loop;
    loop.elements = elements * kHalves;
    loop.bytes_read = (two ? 2 : 1) * kWord / kHalves;
    loop.bytes_written = kWord / kHalves;
    loop.arrays = two ? 3 : 2;
    loop.operations = two ? 2 : 1;
    const Processor p(processor, layout_of(processor, cores, threads_per_core, 1));
    const double seconds = p.run({"stream", offload::Phase::kForward, {loop}}).total();
    return static_cast<double>(loop.elements * (loop.bytes_read + loop.bytes_written)) / seconds;
}

double arithmetic_rate(const ProcessorParams& processor, std::uint32_t threads_per_core) {
    return peak_flops(processor, layout_of(processor, processor.cores, threads_per_core, 1));
}

}  // namespace switchfold
