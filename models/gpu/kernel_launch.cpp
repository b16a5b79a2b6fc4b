// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/kernel_launch.h"

namespace switchfold {

KernelLaunch launch_of(std::uint32_t id, const KernelOperation& kernel, std::int32_t priority) {
    KernelLaunch launch;
    launch.id = id;
    launch.shape = {
        static_cast<std::uint32_t>(kernel.block.count()), kernel.registers_per_thread,
        kernel.shared_memory};
    launch.blocks = kernel.grid.count();
    launch.isolated = kernel.isolated;
    launch.bounded_bytes =
        kernel.byte_source != ByteSource::kCounters &&
        (kernel.duration_source != DurationSource::kModel || kernel.l2_share < 0);
    launch.read = kernel.bytes_read;
    launch.written = kernel.bytes_written;
    launch.l2_share = kernel.l2_share;
    launch.priority = priority;
    launch.inside_cuda_graph = kernel.inside_cuda_graph;
    return launch;
}

}  // namespace switchfold
