// SPDX-License-Identifier: Apache-2.0
#include "workloads/kineto/traffic.h"

#include "workloads/kineto/classify.h"
#include "workloads/kineto/kernel_traffic.h"

#include <algorithm>
#include <map>

namespace switchfold {

namespace {

// Of the default bytes: two inputs for one output is what most element-wise and matrix kernels
// have.
constexpr double kDefaultReadShare = 2.0 / 3.0;

Bytes whole(double bytes) {
    return Bytes(static_cast<std::uint64_t>(std::max(0.0, bytes)));
}

void set_default(KernelOperation& kernel, double most) {
    const double bytes = most * default_bandwidth_share(kernel.kernel_class);
    kernel.bytes_read = whole(bytes * kDefaultReadShare);
    kernel.bytes_written = whole(bytes * (1 - kDefaultReadShare));
    kernel.byte_source = ByteSource::kClassDefault;
}

void set_known(KernelOperation& kernel, const Traffic& traffic, double share, double most) {
    const double bytes = (traffic.read + traffic.written) * share;
    const double fits = bytes > most ? most / bytes : 1;
    kernel.bytes_read = whole(traffic.read * share * fits);
    kernel.bytes_written = whole(traffic.written * share * fits);
    kernel.flops = traffic.flops * share;
    kernel.byte_source = ByteSource::kShapes;
}

}  // namespace

void set_traffic(
    const RawTrace& raw,
    RankGraph& graph,
    const std::vector<std::uint32_t>& operation_of,
    double peak) {
    const auto kernel_of = [&](std::size_t i) {
        return raw.gpu[i].work == GpuWork::kKernel
                   ? std::get_if<KernelOperation>(&graph.operations[operation_of[i]].body)
                   : nullptr;
    };
    // One operator call may launch several kernels of a class: its bytes are theirs together.
    std::map<std::pair<const void*, KernelClass>, std::uint64_t> together;
    for (std::size_t i = 0; i < raw.gpu.size(); ++i)
        if (const KernelOperation* kernel = kernel_of(i))
            together[{raw.gpu[i].call, kernel->kernel_class}] += kernel->isolated.count();
    for (std::size_t i = 0; i < raw.gpu.size(); ++i) {
        KernelOperation* kernel = kernel_of(i);
        if (kernel == nullptr)
            continue;
        const RawGpuEvent& gpu = raw.gpu[i];
        if (gpu.event.counted_read && gpu.event.counted_written) {
            kernel->bytes_read = Bytes(*gpu.event.counted_read);
            kernel->bytes_written = Bytes(*gpu.event.counted_written);
            kernel->byte_source = ByteSource::kCounters;
            continue;
        }
        const double most = peak * to_seconds(kernel->isolated);
        std::optional<Traffic> traffic;
        if (gpu.call != nullptr && !gpu.input_dims.empty())
            traffic = traffic_of(
                gpu.launching_op,
                parse_shapes(gpu.input_dims, gpu.input_types),
                kernel->kernel_class,
                gpu.stride);
        const std::uint64_t all = together[{gpu.call, kernel->kernel_class}];
        if (traffic && all > 0)
            set_known(
                *kernel,
                *traffic,
                static_cast<double>(kernel->isolated.count()) / static_cast<double>(all),
                most);
        else
            set_default(*kernel, most);
    }
}

}  // namespace switchfold
