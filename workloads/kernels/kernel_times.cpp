// SPDX-License-Identifier: Apache-2.0
#include "workloads/kernels/kernel_times.h"

#include "workloads/kernels/measured_times.h"

#include <utility>

namespace switchfold {

namespace {

template <class Shape>
KernelEstimate corrected(const Shape& shape, const GpuRates& gpu, const MeasuredTimes* measured) {
    KernelEstimate result = estimate(shape, gpu);
    if (measured == nullptr)
        return result;
    const std::optional<double> exact = measured->exact(shape);
    const double seconds = exact ? *exact : result.seconds() * measured->ratio(shape);
    result.kernel.isolated = kernel_duration(seconds);
    find_in_l2(result.kernel, gpu);
    if (exact)
        result.kernel.duration_source = DurationSource::kMeasuredAlone;
    return result;
}

}  // namespace

KernelTimes::KernelTimes(GpuRates gpu) : gpu_(std::move(gpu)) {
    gpu_.loaded = true;
}

KernelTimes::KernelTimes(GpuRates gpu, const std::filesystem::path& table) :
    KernelTimes(std::move(gpu), read_kernel_table(table), table.string()) {}

KernelTimes::KernelTimes(GpuRates gpu, const KernelTable& table, const std::string& label) :
    KernelTimes(std::move(gpu)) {
    // Tables hold kernels that were measured alone.
    GpuRates alone = gpu_;
    alone.loaded = false;
    measured_ = std::make_shared<const MeasuredTimes>(table, alone, label);
}

KernelEstimate KernelTimes::estimate(const MatrixProduct& product) const {
    return corrected(product, gpu_, measured_.get());
}
KernelEstimate KernelTimes::estimate(const Attention& attention) const {
    return corrected(attention, gpu_, measured_.get());
}
KernelEstimate KernelTimes::estimate(const MemoryKernel& kernel) const {
    return switchfold::estimate(kernel, gpu_);
}

}  // namespace switchfold
