// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"

#include <map>
#include <string>

namespace switchfold {

/// A number that is not known exactly, and the interval in which it is expected.
struct EstimateParams {
    double value = 0;
    double low = 0;
    double high = 0;
    static constexpr auto fields() {
        using P = EstimateParams;
        constexpr double kMost = 1e6;
        return list_of(
            field("value", &P::value, "The number.", 0.0, kMost).required(),
            field("low", &P::low, "Lower end of the interval.", 0.0, kMost).required(),
            field("high", &P::high, "Upper end of the interval.", 0.0, kMost).required());
    }
    void check(ParamChecker& checker) const {
        if (value < low || high < value)
            checker.error("", "is not in its interval; expected low <= value <= high");
    }
};

/// Power of one kind of GPU.
struct GpuPowerParams {
    double limit_watts = 0;
    EstimateParams idle_watts;
    EstimateParams memory_pj_per_bit;
    static constexpr auto fields() {
        using P = GpuPowerParams;
        constexpr double kMostWatts = 10'000;
        return list_of(
            field(
                "limit_watts", &P::limit_watts, "Power limit of the whole GPU with its memory.",
                1.0, kMostWatts)
                .required(),
            field(
                "idle_watts", &P::idle_watts,
                "Power with a process on the GPU and no kernel running; below the limit.")
                .required(),
            field(
                "memory_pj_per_bit", &P::memory_pj_per_bit,
                "Energy of a bit read from or written to the GPU's memory, in picojoules.")
                .required());
    }
    void check(ParamChecker& checker) const {
        if (idle_watts.high >= limit_watts)
            checker.error("/idle_watts/high", "is not below limit_watts; expected less");
    }
};

/// The numbers behind the energy of a run; docs/results.md#energy.
struct PowerParams {
    std::map<std::string, GpuPowerParams> gpus;
    EstimateParams dense_kernels;
    EstimateParams other_kernels;
    EstimateParams communication;
    EstimateParams gpu_link_pj_per_bit;
    EstimateParams pcie_pj_per_bit;
    EstimateParams network_pj_per_bit;
    static constexpr auto fields() {
        using P = PowerParams;
        return list_of(
            field("gpus", &P::gpus, "By the name of a system's GPU.").required(),
            field(
                "dense_kernels", &P::dense_kernels,
                "Share of the power between idle and limit that the SMs draw in kernels of the "
                "classes gemm_conv and attention.")
                .required(),
            field("other_kernels", &P::other_kernels, "The same in all other kernels.").required(),
            field(
                "communication", &P::communication,
                "The same of one SM that holds a collective's block.")
                .required(),
            field(
                "gpu_link_pj_per_bit", &P::gpu_link_pj_per_bit,
                "Energy of a bit on a link between GPUs, or to the switch between them: NVLink, "
                "xGMI.")
                .required(),
            field("pcie_pj_per_bit", &P::pcie_pj_per_bit, "The same on a link of PCIe.").required(),
            field(
                "network_pj_per_bit", &P::network_pj_per_bit,
                "The same on a cable between machines, with the switch or NIC behind it.")
                .required());
    }
    void check(ParamChecker& checker) const {
        const auto check_share = [&](const char* pointer, const EstimateParams& share) {
            if (share.high > 1)
                checker.error(pointer, "is above 1; expected a share");
        };
        check_share("/dense_kernels/high", dense_kernels);
        check_share("/other_kernels/high", other_kernels);
        check_share("/communication/high", communication);
    }
};

}  // namespace switchfold
