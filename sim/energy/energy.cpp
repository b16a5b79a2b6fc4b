// SPDX-License-Identifier: Apache-2.0
#include "sim/energy/energy.h"

#include "core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

constexpr double kJoulesPerPicojoule = 1e-12;
constexpr double kBitsPerByte = 8;

/// The three ends of an estimate, so that one formula serves all.
constexpr std::array kEnds{
    std::pair{&Joules::value, &EstimateParams::value},
    std::pair{&Joules::low, &EstimateParams::low}, std::pair{&Joules::high, &EstimateParams::high}};

/// Joules of these bytes.
double transport(double bytes, double pj_per_bit) {
    return bytes * kBitsPerByte * pj_per_bit * kJoulesPerPicojoule;
}

const GpuPowerParams&
numbers_of(const std::string& gpu, const PowerParams& power, const std::string& file) {
    const auto found = power.gpus.find(gpu);
    if (found != power.gpus.end())
        return found->second;
    // A name nearby is another GPU: none is suggested.
    throw ConfigError(
        file, "/gpus",
        fmt::format(
            "has no power numbers of the GPU \"{}\"; expected an entry of that name "
            "(docs/results.md#energy)",
            gpu));
}

double packet_bytes(const GpuStepWork& gpu, double Joules::*end) {
    if (end == &Joules::low)
        return gpu.packet_bytes_low;
    if (end == &Joules::high)
        return gpu.packet_bytes_high;
    return (gpu.packet_bytes_low + gpu.packet_bytes_high) / 2;
}

}  // namespace

Joules StepEnergy::sum() const {
    Joules all;
    for (const Joules& part : parts)
        all += part;
    return all;
}

Joules StepEnergy::gpu_watts() const {
    Joules all;
    for (const EnergyPart which :
         {EnergyPart::kIdle, EnergyPart::kKernels, EnergyPart::kCommunication, EnergyPart::kMemory})
        all += part(which);
    const double gpu_seconds = seconds * static_cast<double>(gpus);
    if (gpu_seconds <= 0)
        return {};
    return {all.value / gpu_seconds, all.low / gpu_seconds, all.high / gpu_seconds};
}

StepEnergy energy_of(const StepWork& work, const PowerParams& power, const std::string& file) {
    StepEnergy energy{work.scenario, work.seconds,  work.gpus.size(), {},
                      work.units,    work.units_mm2};
    const auto at = [&](EnergyPart which) -> Joules& {
        return energy.parts[static_cast<std::size_t>(which)];
    };
    for (const GpuStepWork& gpu : work.gpus) {
        const GpuPowerParams& numbers = numbers_of(gpu.gpu, power, file);
        const double dynamic = numbers.limit_watts - numbers.idle_watts.value;
        for (const auto& [joules, estimate] : kEnds) {
            const double idle = numbers.idle_watts.*estimate * work.seconds;
            const double memory = transport(
                gpu.kernel_bytes + packet_bytes(gpu, joules), numbers.memory_pj_per_bit.*estimate);
            const double held =
                dynamic * power.communication.*estimate * gpu.communication_sms * work.seconds;
            const double wanted = dynamic * (power.dense_kernels.*estimate * gpu.dense_seconds +
                                             power.other_kernels.*estimate * gpu.other_seconds);
            // A GPU at its limit lowers its clock: it never draws more.
            const double most =
                std::max(0.0, numbers.limit_watts * work.seconds - idle - memory - held);
            at(EnergyPart::kIdle).*joules += idle;
            at(EnergyPart::kMemory).*joules += memory;
            at(EnergyPart::kCommunication).*joules += held;
            at(EnergyPart::kKernels).*joules += std::min(wanted, most);
        }
    }
    for (const auto& [joules, estimate] : kEnds) {
        at(EnergyPart::kGpuLinks).*joules =
            transport(work.gpu_link_bytes, power.gpu_link_pj_per_bit.*estimate);
        at(EnergyPart::kPcie).*joules = transport(work.pcie_bytes, power.pcie_pj_per_bit.*estimate);
        at(EnergyPart::kNetwork).*joules =
            transport(work.network_bytes, power.network_pj_per_bit.*estimate);
    }
    return energy;
}

}  // namespace switchfold
