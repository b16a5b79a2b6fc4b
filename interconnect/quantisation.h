// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace switchfold {

/// 8-bit numbers, of which a block shares a scale.
enum class NarrowFormat : std::uint8_t { kFloat8E4m3, kFloat8E5m2, kInt8 };
template <>
struct EnumNames<NarrowFormat> {
    static constexpr std::array<std::pair<NarrowFormat, std::string_view>, 3> kNames{
        {{NarrowFormat::kFloat8E4m3, "float8_e4m3"},
         {NarrowFormat::kFloat8E5m2, "float8_e5m2"},
         {NarrowFormat::kInt8, "int8"}}};
};

/// Where the numbers of a reduction in the switch become 8-bit ones.
enum class QuantisedAt : std::uint8_t {
    kNowhere,
    kGpu,   ///< before they are sent: operands and sums travel narrow
    kPort,  ///< at the output of the unit: operands travel as they are, sums narrow
};
template <>
struct EnumNames<QuantisedAt> {
    static constexpr std::array<std::pair<QuantisedAt, std::string_view>, 3> kNames{
        {{QuantisedAt::kNowhere, "nowhere"},
         {QuantisedAt::kGpu, "gpu"},
         {QuantisedAt::kPort, "port"}}};
};

/// How the numbers of a reduction in the switch are narrowed. A study: no such switch was measured.
struct Quantisation {
    QuantisedAt at = QuantisedAt::kNowhere;
    NarrowFormat format = NarrowFormat::kFloat8E4m3;
    std::uint32_t block = 32;
    std::uint32_t scale_bytes = 1;
    bool operator==(const Quantisation&) const = default;
    [[nodiscard]] bool used() const { return at != QuantisedAt::kNowhere; }
    /// Bytes that a block has where its elements are of so many.
    [[nodiscard]] std::uint64_t block_bytes(std::uint32_t element_bytes) const {
        return std::uint64_t{block} * element_bytes;
    }

    static constexpr auto fields() {
        using P = Quantisation;
        return list_of(
            field(
                "at", &P::at,
                "gpu: members quantise what they send, so that operands and sums travel as 8-bit "
                "numbers; port: operands travel as they are, and the unit quantises the sum on its "
                "way out."),
            field("format", &P::format, "The 8-bit numbers."),
            field(
                "block", &P::block,
                "Elements that share a scale, a power of two; whole blocks fill a line of the "
                "switches' units.",
                4U, 32'768U),
            field(
                "scale_bytes", &P::scale_bytes,
                "Bytes of a scale: 1 (a power of two, as microscaling formats have), 2 (bfloat16) "
                "or 4 (float32).",
                1U, 4U));
    }
    void check(ParamChecker& checker) const {
        if (!std::has_single_bit(block))
            checker.error("/block", "is not a power of two; expected one, since lines are");
        if (scale_bytes == 3)
            checker.error(
                "/scale_bytes", "is 3; expected 1 (power of two), 2 (bfloat16) or 4 (float32)");
    }
};

/// The width of a packet's data, where its payload counts elements at their own width: below
/// kNarrow a multiple of that, as partial sums have; from it on 8-bit numbers and a scale a block.
inline constexpr std::uint8_t kNarrow = 0x80;
[[nodiscard]] constexpr std::uint8_t
narrow_width(const Quantisation& quantised, std::uint32_t element_bytes) {
    const auto log2 = [](std::uint32_t value) {
        return static_cast<unsigned>(std::bit_width(value) - 1);
    };
    return static_cast<std::uint8_t>(
        kNarrow | (element_bytes == 2 ? 0x40U : 0U) | log2(quantised.scale_bytes) << 4U |
        log2(quantised.block));
}
/// Bytes that data of so many elements' bytes have at such a width. \pre width >= kNarrow
[[nodiscard]] std::uint64_t narrow_bytes(std::uint64_t payload, std::uint8_t width);
/// The same at any width.
[[nodiscard]] inline std::uint64_t carried_bytes(std::uint64_t payload, std::uint8_t width) {
    if (width < kNarrow) [[likely]]
        return payload * width;
    return narrow_bytes(payload, width);
}
/// Bytes that memory holds of it: partial sums count as their elements there.
[[nodiscard]] inline std::uint32_t stored_bytes(std::uint32_t payload, std::uint8_t width) {
    if (width < kNarrow) [[likely]]
        return payload;
    return static_cast<std::uint32_t>(narrow_bytes(payload, width));
}

/// Rounds to the nearest number of the format, ties to even; beyond the largest it gives that.
[[nodiscard]] float round_to(NarrowFormat format, float value);
/// The least scale of so many bytes with which the format holds a block whose largest magnitude is
/// `largest`: no number of the block overflows.
[[nodiscard]] float scale_for(const Quantisation& quantised, float largest);
/// Rounds the numbers to what they are worth as 8-bit ones with scales; blocks begin with the
/// first. Numbers that are not finite stay.
void quantise(const Quantisation& quantised, std::span<float> numbers);
/// Most by which quantising moves a number, as a share of the largest magnitude in its block.
[[nodiscard]] double quantisation_step(const Quantisation& quantised);

}  // namespace switchfold
