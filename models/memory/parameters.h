// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"
#include "models/memory/hbm_timing.h"

namespace switchfold {

struct L2Params {
    Bytes capacity = mebibytes(40);
    Bandwidth bandwidth = gigabytes_per_second(5380);
    Time latency = nanoseconds(200);
    static constexpr auto fields() {
        return list_of(
            field(
                "capacity", &L2Params::capacity, "Bytes of all slices.", kibibytes(1),
                mebibytes(65'536)),
            field(
                "bandwidth", &L2Params::bandwidth, "Measured bandwidth of all slices together.",
                Bandwidth(1'000'000'000), gigabytes_per_second(100'000)),
            field("latency", &L2Params::latency, "Unloaded hit.", Time(0), microseconds(10)));
    }
};

struct MemoryParams {
    Bytes capacity;
    Bytes reserve;
    HbmParams hbm;
    L2Params l2;
    Time share_window = microseconds(1);
    double kernel_hit_share = 0.3;
    static constexpr auto fields() {
        return list_of(
            field(
                "capacity", &MemoryParams::capacity,
                "Capacity; plans may use it except for the reserve. 0: unknown, no plan is "
                "rejected.",
                Bytes(0), Bytes(1ULL << 44U)),
            field(
                "reserve", &MemoryParams::reserve,
                "Part of the capacity that plans leave free: for the context, libraries' "
                "workspaces and fragmentation.",
                Bytes(0), Bytes(1ULL << 44U)),
            field("hbm", &MemoryParams::hbm, "DRAM."),
            field("l2", &MemoryParams::l2, "The L2 cache."),
            field(
                "share_window", &MemoryParams::share_window,
                "Interval at which the shares of kernels and packets are updated.", nanoseconds(10),
                microseconds(1000)),
            field(
                "kernel_hit_share", &MemoryParams::kernel_hit_share,
                "Share of a kernel's L2 traffic that hits when its data fit.", 0.0, 1.0));
    }
    void check(ParamChecker& checker) const {
        if (reserve.count() > 0 && reserve >= capacity)
            checker.error(
                "/reserve", capacity.count() == 0 ? "is given without a capacity; expected both"
                                                  : "is not below the capacity; expected less");
    }
    /// Capacity available to plans; 0: unknown.
    [[nodiscard]] Bytes for_plans() const { return capacity - reserve; }
};

}  // namespace switchfold
