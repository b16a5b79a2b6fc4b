// SPDX-License-Identifier: Apache-2.0
#include "interconnect/unit_cost.h"

#include "core/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace switchfold {

namespace {

/// What is published of a process.
struct Process {
    std::uint32_t nm;
    double logic_of_45nm;  ///< area of the same logic, 45 nm being 1
    double logic_of_90nm;
    double bit_cell_um2;           ///< of SRAM
    std::array<double, 3> energy;  ///< of the same operation at V volts: a V^2 + b V + c
};
// Logic and energy: Stillmaker and Baas, Integration 58 (2017), tables 3 and 5. Cells: WikiChip,
// from the makers' papers at IEDM and ISSCC.
constexpr std::array<Process, kCostNodes.size()> kProcesses{
    {{16, 0.19, 0.067, 0.074, {0.2958, -0.1241, 0.03024}},
     {14, 0.17, 0.061, 0.064, {0.2363, -0.09675, 0.02239}},
     {10, 0.10, 0.036, 0.042, {0.2068, -0.09311, 0.02375}},
     {7, 0.059, 0.021, 0.027, {0.1776, -0.09097, 0.02447}}}};
constexpr std::array<double, 3> kEnergyOf45nm{1.103, -0.362, 0.2767};
constexpr double kVoltsOf45nm = 0.9;
constexpr double kVolts = 0.8;

// Adders. Low: synthesised by DesignWare at 45 nm (Dally, NIPS 2015 tutorial), at the clock of
// NVSwitch 3. High: fused multiply-adds of 90 nm that leave 27 GFLOPS a mm2 (Galal and Horowitz,
// IEEE TC 2011), two operations each, at 1 GHz.
constexpr double kAdder32Low = 4184;  // um2
constexpr double kAdder16Low = 1360;
constexpr double kAdder32High = 1e6 / 13.5;
constexpr double kHighClock = 1.33e9;
constexpr double kLowClock = 1e9;
// Energy. Low: 45 nm, scaled (Horowitz, ISSCC 2014). High: 7 nm (Jouppi et al., ISCA 2021, table
// 2).
constexpr double kAdd32Low = 0.9;  // pJ
constexpr double kAdd16Low = 0.4;
constexpr double kAdd32High = 0.38;
constexpr double kAdd16High = 0.16;
/// 64 bits from or to an SRAM of so many bytes.
struct AccessEnergy {
    double bytes;
    double pj_45nm;  ///< Horowitz
    double pj_7nm;   ///< Jouppi et al.
};
constexpr std::array<AccessEnergy, 3> kAccesses{
    {{8192, 10, 7.5}, {32768, 20, 8.5}, {1048576, 100, 14}}};

// A cell and what stands around it: 1.3 (WikiChip's rule for large memories), and 5.9, TSMC's test
// chip of 256 Mib in 42.64 mm2 with all its pads (ISSCC 2017), which is 0.159 um2 a bit.
constexpr double kAroundCellLow = 1.3;
constexpr double kAroundCellHigh = 42.64e6 / (1U << 28U) / 0.027;
// A flip-flop: 5.98 um2 at 40 nm (Shao et al., Aladdin, ISCA 2014), taken as of 45.
constexpr double kFlipFlop = 5.98;

constexpr double kMm2 = 1e-6;

const Process& process_of(std::uint32_t nm) {
    const auto found = std::find_if(
        kProcesses.begin(), kProcesses.end(), [&](const Process& p) { return p.nm == nm; });
    if (found == kProcesses.end())
        throw ConfigError(
            "--node", "",
            fmt::format(
                "is {} nm, of which no numbers are known; expected one of {}", nm,
                fmt::join(kCostNodes, ", ")));
    return *found;
}

double at(const std::array<double, 3>& polynomial, double volts) {
    return (polynomial[0] * volts + polynomial[1]) * volts + polynomial[2];
}
double energy_of_45nm(const Process& process) {
    return at(process.energy, kVolts) / at(kEnergyOf45nm, kVoltsOf45nm);
}
double energy_of_7nm(const Process& process) {
    return at(process.energy, kVolts) / at(kProcesses.back().energy, kVolts);
}

bool adds(const ReductionUnitParams& unit, ElementType type) {
    return std::find(unit.datatypes.begin(), unit.datatypes.end(), type) != unit.datatypes.end();
}

/// Elements of the type that enter the adders in the time of one of float32.
double elements_of(const ReductionUnitParams& unit, ElementType type) {
    const double width = width_of(ElementType::kFloat32) / width_of(type);
    return static_cast<double>(unit.adder_rate_of(type).count()) /
           static_cast<double>(unit.adder_rate.count()) * width;
}

/// Additions of either width that the unit must be able to do in the time of one of float32.
struct Widths {
    double wide = 0;
    double narrow = 0;
};
Widths widths_of(const ReductionUnitParams& unit) {
    const double of_16_bits = std::max(
        adds(unit, ElementType::kFloat16) ? elements_of(unit, ElementType::kFloat16) : 0,
        adds(unit, ElementType::kBfloat16) ? elements_of(unit, ElementType::kBfloat16) : 0);
    const double of_32_bits = adds(unit, ElementType::kFloat32) ? 1 : 0;
    const double of_8_bits = unit.narrow_elements;
    if (unit.accumulation == Accumulation::kFloat32)
        return {std::max({of_32_bits, of_16_bits, of_8_bits}), 0};
    // A wide adder adds one narrow number.
    return {of_32_bits, std::max(0.0, std::max(of_16_bits, of_8_bits) - of_32_bits)};
}

double lanes_at(const ReductionUnitParams& unit, double clock) {
    const double rate = static_cast<double>(unit.adder_rate.count()) * unit.adders;
    return std::ceil(rate / (width_of(ElementType::kFloat32) * clock));
}

CostRange adders_mm2(const ReductionUnitParams& unit, const Process& process) {
    const Widths widths = widths_of(unit);
    const double low = widths.wide * kAdder32Low + widths.narrow * kAdder16Low;
    const double high = (widths.wide + widths.narrow * kAdder16Low / kAdder32Low) * kAdder32High;
    return {
        lanes_at(unit, kHighClock) * low * process.logic_of_45nm * kMm2,
        lanes_at(unit, kLowClock) * high * process.logic_of_90nm * kMm2};
}

/// A quantiser of sums as they leave. No synthesis of one was found: as a 16-bit adder to one of 32
/// bits for each number, since it compares, shifts and rounds as they do.
CostRange quantisers_mm2(const ReductionUnitParams& unit, const Process& process) {
    return {
        lanes_at(unit, kHighClock) * kAdder16Low * process.logic_of_45nm * kMm2,
        lanes_at(unit, kLowClock) * kAdder32High * process.logic_of_90nm * kMm2};
}

CostRange sram_mm2(double bits, const Process& process) {
    return CostRange{kAroundCellLow, kAroundCellHigh}.times(bits * process.bit_cell_um2 * kMm2);
}

/// From and to a memory of so many bytes, in pJ. Larger ones than published take more by the root
/// of their size, as wires do.
CostRange access_pj_per_byte(double bytes, const Process& process) {
    const auto above =
        std::find_if(kAccesses.begin(), kAccesses.end() - 1, [&](const AccessEnergy& a) {
            return a.bytes >= bytes;
        });
    const auto below = above == kAccesses.begin() ? above
                       : above->bytes <= bytes    ? above
                                                  : above - 1;
    const double beyond = std::max(1.0, std::sqrt(bytes / kAccesses.back().bytes));
    const double low =
        std::min(below->pj_45nm * energy_of_45nm(process), below->pj_7nm * energy_of_7nm(process));
    const double high =
        std::max(above->pj_45nm * energy_of_45nm(process), above->pj_7nm * energy_of_7nm(process));
    return CostRange{low, high}.times(beyond / 8);
}

CostRange pj_per_byte(const ReductionUnitParams& unit, ElementType type, const Process& process) {
    const bool wide = type == ElementType::kFloat32 || unit.accumulation == Accumulation::kFloat32;
    const double low = (wide ? kAdd32Low : kAdd16Low) * energy_of_45nm(process);
    const double high = (wide ? kAdd32High : kAdd16High) * energy_of_7nm(process);
    CostRange sum = CostRange{low, high}.times(1.0 / width_of(type));
    const double sum_bytes = widening(type, unit.accumulation);
    sum +=
        access_pj_per_byte(static_cast<double>(unit.buffer.count()), process).times(2 * sum_bytes);
    return sum;
}

}  // namespace

CostRange UnitCost::mm2() const {
    CostRange all = adders_mm2;
    all += quantisers_mm2;
    all += sums_mm2;
    all += entries_mm2;
    return all;
}

std::uint32_t entry_bits(const ReductionUnitParams& unit) {
    // Address and group of the line, members expected and come, each member's bit, state.
    constexpr std::uint32_t kAddress = 64;
    constexpr std::uint32_t kGroup = 16;
    constexpr std::uint32_t kState = 8;
    const auto count = static_cast<std::uint32_t>(std::bit_width(unit.max_members));
    return kAddress + kGroup + 2 * count + unit.max_members + kState;
}

UnitCost unit_cost(const ReductionUnitParams& unit, const UnitPlace& place) {
    const Process& process = process_of(place.node);
    UnitCost cost;
    const double lanes = double{1} * place.lanes * unit.units.value_or(1);
    cost.adders_mm2 = switchfold::adders_mm2(unit, process).times(lanes);
    if (place.quantises)
        cost.quantisers_mm2 = switchfold::quantisers_mm2(unit, process).times(lanes);
    const double tables = lanes * place.tables;
    cost.sums_mm2 = sram_mm2(8.0 * static_cast<double>(unit.buffer.count()), process).times(tables);
    const double bits = double{1} * unit.entries * entry_bits(unit);
    cost.entries_mm2 =
        CostRange{sram_mm2(bits, process).low, bits * kFlipFlop * process.logic_of_45nm * kMm2}
            .times(tables);
    for (const auto& [type, word] : EnumNames<ElementType>::kNames)
        if (adds(unit, type))
            cost.pj_per_byte[static_cast<std::size_t>(type)] =
                switchfold::pj_per_byte(unit, type, process);
    return cost;
}

}  // namespace switchfold
