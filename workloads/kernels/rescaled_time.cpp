// SPDX-License-Identifier: Apache-2.0
#include "workloads/kernels/rescaled_time.h"

#include "workloads/kernels/attention.h"
#include "workloads/kernels/matrix_product.h"
#include "workloads/kernels/roofline.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

namespace switchfold {

namespace {

MatrixProduct product_of(const KernelShape& shape) {
    MatrixProduct product;
    product.m = shape.sides[0];
    product.n = shape.sides[1];
    product.k = shape.sides[2];
    product.count = shape.sides[3];
    product.datatype = shape.datatype;
    product.tf32 = shape.tf32;
    return product;
}

Attention attention_of(const KernelShape& shape) {
    Attention attention;
    attention.batch = shape.sides[0];
    attention.queries = shape.sides[1];
    attention.keys = shape.sides[2];
    attention.heads = shape.sides[3];
    attention.kv_heads = shape.sides[4];
    attention.head_width = shape.sides[5];
    attention.datatype = shape.datatype;
    attention.causal = shape.causal;
    attention.backward = shape.backward;
    attention.newest = shape.newest;
    return attention;
}

/// Seconds of the shape's kernel as a profiler measures them: without the way to its first block.
double modelled(const KernelShape& shape, const GpuRates& gpu) {
    const double seconds = shape.kind == ShapeKind::kProduct
                               ? estimate(product_of(shape), gpu).seconds()
                               : estimate(attention_of(shape), gpu).seconds();
    return seconds - gpu.launch + gpu.overhead;
}

/// A kernel as two parts, of memory and of SMs. They are added: how far they overlap cannot be seen
/// from one time, and a sum lies between a kernel that uses its memory badly and one that waits for
/// its SMs.
class Parts {
public:
    Parts(const KernelOperation& kernel, const GpuRates& from, const GpuRates& to) :
        kernel_(kernel), from_(from), to_(to) {
        const double all = to_seconds(kernel.isolated);
        overhead_ = std::min(all, from.overhead);
        body_ = all - overhead_;
    }

    /// Seconds on the other GPU if the bytes take their time of the body, or all of it.
    [[nodiscard]] double seconds() const {
        const double share = body_ > 0 ? std::min(1.0, memory(from_) / body_) : 0.0;
        return with_memory_share(share);
    }
    [[nodiscard]] double of_memory_alone() const { return with_memory_share(1); }
    [[nodiscard]] double of_sms_alone() const { return with_memory_share(0); }

private:
    [[nodiscard]] double with_memory_share(double share) const {
        const double overhead =
            from_.overhead > 0 ? overhead_ * to_.overhead / from_.overhead : 0.0;
        return overhead + body_ * (share * memory_ratio() + (1 - share) * sms_ratio());
    }

    [[nodiscard]] double bytes() const {
        return static_cast<double>((kernel_.bytes_read + kernel_.bytes_written).count());
    }

    /// Seconds of the bytes: those that miss the L2 at the memory's rate, all at that of the L2.
    [[nodiscard]] double memory(const GpuRates& gpu) const {
        const double all = bytes();
        if (all == 0)
            return 0;
        const auto read = static_cast<double>(kernel_.bytes_read.count());
        const auto written = static_cast<double>(kernel_.bytes_written.count());
        const double missed = cold_share(all, gpu) * read + written;
        const double busy = std::clamp<double>(
            static_cast<double>(kernel_.grid.count()), 1.0, static_cast<double>(gpu.sms));
        return std::max(
            missed > 0 ? missed / memory_bandwidth(gpu, written / missed) : 0.0,
            all / l2_rate(gpu, busy));
    }
    [[nodiscard]] double memory_ratio() const {
        if (bytes() > 0)
            return memory(to_) / memory(from_);
        return memory_bandwidth(from_, 0) / memory_bandwidth(to_, 0);
    }

    /// Blocks of the busiest SM. A grid of as many blocks for each SM is one whose blocks stay and
    /// share the work: it has as many on the other GPU.
    [[nodiscard]] double blocks_of_sm(const GpuRates& gpu) const {
        const auto blocks = static_cast<double>(std::max<std::uint64_t>(1, kernel_.grid.count()));
        if (kernel_.grid.count() % from_.sms == 0)
            return blocks / gpu.sms;
        return std::ceil(blocks / gpu.sms);
    }
    /// What an SM does in a second: products on matrix units if the kernel is faster than vector
    /// units are, else instructions of a lane.
    [[nodiscard]] double rate_of_sm(const GpuRates& gpu) const {
        const bool product = kernel_.kernel_class == KernelClass::kGemmConv ||
                             kernel_.kernel_class == KernelClass::kAttention;
        const bool slow = kernel_.flops > 0 && kernel_.flops < from_.vector * body_;
        const double rate = product && !slow ? gpu.matrix : gpu.integer;
        return rate / gpu.sms;
    }
    [[nodiscard]] double sms_ratio() const {
        return blocks_of_sm(to_) / rate_of_sm(to_) / (blocks_of_sm(from_) / rate_of_sm(from_));
    }

    const KernelOperation& kernel_;
    const GpuRates& from_;
    const GpuRates& to_;
    double overhead_ = 0;
    double body_ = 0;
};

}  // namespace

KernelRescaler::KernelRescaler(const GpuRates& from, const GpuRates& to) : from_(from), to_(to) {
    // Traced steps run at the power limit.
    from_.loaded = to_.loaded = true;
    from_.name = to_.name;
    same_ = from_ == to_;
}

/// Ratio of the modelled times; nothing if the shape is unknown, or one of the GPUs has no kernel
/// for it.
std::optional<double> KernelRescaler::ratio_of(const KernelShape& shape) {
    if (shape.kind == ShapeKind::kUnknown)
        return std::nullopt;
    const auto [at, fresh] = ratios_.try_emplace(shape);
    if (!fresh)
        return at->second;
    try {
        at->second = modelled(shape, to_) / modelled(shape, from_);
    } catch (const std::invalid_argument&) {
        // Known by its bytes or launch alone.
    }
    return at->second;
}

RescaledTime KernelRescaler::operator()(const KernelOperation& kernel) {
    RescaledTime time{kernel.isolated, kernel.isolated, kernel.isolated, ScaledBy::kLaunch};
    if (const auto ratio = ratio_of(kernel.shape)) {
        time.by = ScaledBy::kShape;
        if (!same_)
            time.isolated = kernel_duration(to_seconds(kernel.isolated) * *ratio);
        time.least = time.most = time.isolated;
        return time;
    }
    if (kernel.byte_source != ByteSource::kClassDefault)
        time.by = ScaledBy::kBytes;
    if (same_)
        return time;
    const Parts parts(kernel, from_, to_);
    time.isolated = kernel_duration(parts.seconds());
    time.least = time.most = time.isolated;
    if (time.by == ScaledBy::kLaunch) {
        const Time memory = kernel_duration(parts.of_memory_alone());
        const Time sms = kernel_duration(parts.of_sms_alone());
        time.least = std::min({time.isolated, memory, sms});
        time.most = std::max({time.isolated, memory, sms});
    }
    return time;
}

}  // namespace switchfold
