// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"
#include "workloads/kernels/gpu_rates.h"

#include <cstdint>
#include <map>
#include <optional>

namespace switchfold {

/// What a kernel's time on another GPU follows from.
enum class ScaledBy : std::uint8_t {
    kShape,   ///< the sizes of its product or attention: the library's kernels on both GPUs
    kBytes,   ///< its launch and bytes that shapes or counters state
    kLaunch,  ///< its launch alone; its bytes are assumed by its class
};

struct RescaledTime {
    Time isolated;
    /// Range over all divisions of the time between memory and SMs; both are `isolated` unless the
    /// launch alone is known.
    Time least;
    Time most;
    ScaledBy by = ScaledBy::kLaunch;
};

/// Isolated durations on another GPU of kernels that were measured on `from`: their times there
/// times the ratio of the modelled times. Without a shape, a kernel's body (all but the overhead)
/// is divided into the time of its bytes and that of its SMs. The first follows memory and L2; the
/// second the blocks of the busiest SM and the SMs' rate. Exactly kernel.isolated if both GPUs have
/// the same rates, whatever their names.
class KernelRescaler {
public:
    KernelRescaler(const GpuRates& from, const GpuRates& to);

    /// Whether every kernel takes the same time on both.
    [[nodiscard]] bool same() const { return same_; }
    [[nodiscard]] RescaledTime operator()(const KernelOperation& kernel);

private:
    [[nodiscard]] std::optional<double> ratio_of(const KernelShape& shape);

    GpuRates from_;
    GpuRates to_;
    bool same_ = false;
    std::map<KernelShape, std::optional<double>> ratios_;
};

}  // namespace switchfold
