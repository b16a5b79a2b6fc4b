// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"
#include "interconnect/packet.h"
#include "interconnect/place.h"
#include "interconnect/unit_tenants.h"
#include "interconnect/values.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

class ReductionPolicy;

/// What a reduction unit does with work that does not fit its table.
enum class WhenFull : std::uint8_t {
    kStall,   ///< the packet stays in the input buffer until an entry is free
    kEvict,   ///< push: the least recently touched line leaves as a partial sum; pull: stall
    kRefuse,  ///< a group is admitted only if every unit can reserve entries for it
};

template <>
struct EnumNames<WhenFull> {
    static constexpr std::array<std::pair<WhenFull, std::string_view>, 3> kNames{
        {{WhenFull::kStall, "stall"}, {WhenFull::kEvict, "evict"}, {WhenFull::kRefuse, "refuse"}}};
};
template <>
struct EnumNames<Accumulation> {
    static constexpr std::array<std::pair<Accumulation, std::string_view>, 2> kNames{
        {{Accumulation::kElement, "element"}, {Accumulation::kFloat32, "float32"}}};
};
template <>
struct EnumNames<ElementType> {
    static constexpr std::array<std::pair<ElementType, std::string_view>, 3> kNames{
        {{ElementType::kFloat32, "float32"},
         {ElementType::kFloat16, "float16"},
         {ElementType::kBfloat16, "bfloat16"}}};
};

/// The reduction unit behind one switch port (one lane); a bundle of lanes has one per lane.
struct ReductionUnitParams {
    std::uint32_t entries = 256;
    Bytes buffer = kibibytes(128);
    Bytes line{128};
    std::uint32_t adders = 1;
    Bandwidth adder_rate = gigabytes_per_second(25);
    std::uint32_t float16_elements = 0;
    std::uint32_t bfloat16_elements = 0;
    std::uint32_t narrow_elements = 0;
    Time latency = nanoseconds(50);
    Accumulation accumulation = Accumulation::kFloat32;
    std::vector<ElementType> datatypes{
        ElementType::kFloat32, ElementType::kFloat16, ElementType::kBfloat16};
    std::vector<NarrowFormat> formats{
        NarrowFormat::kFloat8E4m3, NarrowFormat::kFloat8E5m2, NarrowFormat::kInt8};
    WhenFull when_full = WhenFull::kStall;
    std::uint32_t group_entries = 64;
    Time timeout = microseconds(20);
    std::uint32_t max_groups = 128;
    std::uint32_t max_members = 64;
    std::optional<std::uint32_t> units;
    std::optional<Place> place;
    std::optional<std::vector<UnitTenant>> tenants;
    std::optional<bool> watch_entries;
    /// Absent ones are not in an effective configuration: digests of runs without them stay.
    static constexpr bool kLeavesOutAbsent = true;
    /// A program's own, in place of what when_full says. No file has it.
    std::shared_ptr<const ReductionPolicy> policy{};
    /// A program's own, in place of what place says. No file has it.
    std::shared_ptr<const ReductionPlace> own_place{};

    static constexpr auto fields() {
        using P = ReductionUnitParams;
        return list_of(
            field("entries", &P::entries, "Lines that can be open at once.", 1U, 1U << 20U),
            field(
                "buffer", &P::buffer,
                "Bytes of partial sums that can be held, at the accumulator's width.", Bytes(128),
                mebibytes(1024)),
            field("line", &P::line, "Bytes that one entry covers.", Bytes(16), Bytes(65536)),
            field("adders", &P::adders, "Adders that work in parallel.", 1U, 1024U),
            field(
                "adder_rate", &P::adder_rate, "Bytes of float32 operands per second and adder.",
                Bandwidth(1'000'000), gigabytes_per_second(100'000)),
            field(
                "float16_elements", &P::float16_elements,
                "Elements of float16 that an adder takes in the time of one of float32. 0: what "
                "its width holds, one where it keeps sums as float32, two where sums are as wide "
                "as their elements.",
                0U, 64U),
            field("bfloat16_elements", &P::bfloat16_elements, "The same of bfloat16.", 0U, 64U),
            field(
                "narrow_elements", &P::narrow_elements,
                "The same of 8-bit numbers, which no known unit adds. 0: one where it keeps sums "
                "as float32, four where it quantises them after each addition.",
                0U, 64U),
            field(
                "latency", &P::latency,
                "Latency from the last operand in to the first byte of the sum out.", Time(0),
                microseconds(1000)),
            field(
                "accumulation", &P::accumulation,
                "Width of the sums in the table and on the way to the next switch."),
            field("datatypes", &P::datatypes, "Element types that the adders take."),
            field(
                "formats", &P::formats,
                "8-bit numbers that it takes or, at the output, makes of sums (a study: no known "
                "unit does either)."),
            field(
                "when_full", &P::when_full,
                "Action when no entry is free: stall, evict a partial sum (push), or refuse groups "
                "for which group_entries cannot be reserved (their all-reduces run as rings)."),
            field(
                "group_entries", &P::group_entries,
                "when_full refuse: entries that each unit reserves for a group.", 1U, 1U << 20U),
            field(
                "timeout", &P::timeout,
                "Push: a line without new operands for this time leaves as a partial sum. A failed "
                "unit reports its failure after the same time. 0: never.",
                Time(0), microseconds(1'000'000)),
            field(
                "max_groups", &P::max_groups, "Multicast groups that a switch can hold.", 1U,
                65'535U),
            field(
                "max_members", &P::max_members, "Ports that a group can have at one switch.", 1U,
                65'535U),
            field(
                "units", &P::units,
                "Units of a lane, among which its lines are divided: each with such entries, "
                "buffer "
                "and adders. Absent: one.",
                1U, 64U),
            field(
                "place", &P::place,
                "Of the switches that these parameters are of, those that have the unit; the "
                "others "
                "forward (docs/in_switch.md#places). Absent: all."),
            field(
                "tenants", &P::tenants,
                "Who shares the table: quotas and priorities, by GPUs. Absent: nobody is told "
                "apart."),
            field(
                "watch_entries", &P::watch_entries,
                "Whether to tell what entries wait for (table reduction_entries of a result's "
                "statistics)."));
    }
    /// Bytes of such operands per second and adder.
    [[nodiscard]] Bandwidth adder_rate_of(ElementType type) const {
        if (type == ElementType::kFloat32)
            return adder_rate;
        const std::uint32_t own =
            type == ElementType::kFloat16 ? float16_elements : bfloat16_elements;
        const std::uint32_t ratio = width_of(ElementType::kFloat32) / width_of(type);
        const std::uint32_t elements = own > 0 ? own : ratio / widening(type, accumulation);
        return Bandwidth((adder_rate * elements).count() / ratio);
    }
    /// Bytes of such operands at their own width that an adder takes a second where members have
    /// made 8-bit numbers of them.
    [[nodiscard]] Bandwidth narrow_rate_of(ElementType type) const {
        const std::uint32_t derived = accumulation == Accumulation::kFloat32 ? 1 : 4;
        const std::uint32_t elements = narrow_elements > 0 ? narrow_elements : derived;
        return Bandwidth(
            (adder_rate * elements).count() * width_of(type) / width_of(ElementType::kFloat32));
    }
    /// Reason why it cannot narrow such a group's numbers; empty if it can or need not.
    [[nodiscard]] std::string why_not(const OperandFormat& format) const;
    /// Errors of quotas.
    void check_tenants(ParamChecker& checker) const;
    void check(ParamChecker& checker) const {
        check_tenants(checker);
        if (line.count() % kReduceGrain != 0)
            checker.error(
                "/line",
                "is not a multiple of 16 B; expected whole vectors, the least that a GPU asks for");
        if (when_full == WhenFull::kEvict && timeout == Time())
            checker.error(
                "/timeout",
                "is 0 where when_full is evict; expected a time after which the rest of an evicted "
                "line, which can never be complete, leaves as well");
    }
};

}  // namespace switchfold
