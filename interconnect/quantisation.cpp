// SPDX-License-Identifier: Apache-2.0
#include "interconnect/quantisation.h"

#include <algorithm>
#include <cmath>

namespace switchfold {

namespace {

/// The numbers of a format: `mantissa` bits behind the point, down to a least exponent.
struct NarrowShape {
    int mantissa;
    int least_exponent;
    float largest;
};

NarrowShape shape_of(NarrowFormat format) {
    switch (format) {
    case NarrowFormat::kFloat8E4m3:
        return {3, -6, 448};
    case NarrowFormat::kFloat8E5m2:
        return {2, -14, 57'344};
    case NarrowFormat::kInt8:
        break;
    }
    return {0, 0, 127};
}

constexpr float kLeastScale = 0x1p-126F;
constexpr float kLargestScale = 0x1p127F;

}  // namespace

std::uint64_t narrow_bytes(std::uint64_t payload, std::uint8_t width) {
    const std::uint64_t elements = payload >> ((width & 0x40U) != 0 ? 1U : 2U);
    const unsigned block = width & 0xFU;
    const std::uint64_t blocks = (elements + (1ULL << block) - 1) >> block;
    return elements + (blocks << (width >> 4U & 3U));
}

float round_to(NarrowFormat format, float value) {
    if (!std::isfinite(value))
        return value;
    const NarrowShape shape = shape_of(format);
    float step = 1;
    if (format != NarrowFormat::kInt8) {
        int exponent = 0;
        std::frexp(value, &exponent);
        step = std::ldexp(1.0F, std::max(exponent - 1, shape.least_exponent) - shape.mantissa);
    }
    const float magnitude = std::nearbyint(std::fabs(value) / step) * step;
    return std::copysign(std::min(magnitude, shape.largest), value);
}

float scale_for(const Quantisation& quantised, float largest) {
    const float most = shape_of(quantised.format).largest;
    float scale = std::clamp(largest / most, kLeastScale, kLargestScale);
    if (quantised.scale_bytes == 1) {
        int exponent = 0;
        const float mantissa = std::frexp(scale, &exponent);
        return std::ldexp(1.0F, mantissa == 0.5F ? exponent - 1 : exponent);
    }
    if (quantised.scale_bytes == 2) {
        constexpr std::uint32_t kDropped = 0xFFFF;
        return std::bit_cast<float>((std::bit_cast<std::uint32_t>(scale) + kDropped) & ~kDropped);
    }
    while (scale * most < largest)
        scale = std::nextafter(scale, kLargestScale);
    return scale;
}

void quantise(const Quantisation& quantised, std::span<float> numbers) {
    for (std::size_t first = 0; first < numbers.size(); first += quantised.block) {
        const auto block =
            numbers.subspan(first, std::min<std::size_t>(quantised.block, numbers.size() - first));
        float largest = 0;
        for (const float value : block)
            if (std::isfinite(value))
                largest = std::max(largest, std::fabs(value));
        const float scale = scale_for(quantised, largest);
        for (float& value : block)
            value = round_to(quantised.format, value / scale) * scale;
    }
}

double quantisation_step(const Quantisation& quantised) {
    // A scale is no larger than this multiple of the least one that would do.
    const double coarse = quantised.scale_bytes == 1   ? 2
                          : quantised.scale_bytes == 2 ? 1 + 0x1p-7
                                                       : 1 + 0x1p-22;
    // The division by the scale and the product with it round too, but for powers of two.
    const double scaling = quantised.scale_bytes == 1 ? 0 : 0x1p-22;
    switch (quantised.format) {
    case NarrowFormat::kFloat8E4m3:
        return 0x1p-4 + scaling;
    case NarrowFormat::kFloat8E5m2:
        return 0x1p-3 + scaling;
    case NarrowFormat::kInt8:
        break;
    }
    return coarse / 2 / shape_of(NarrowFormat::kInt8).largest + scaling;
}

}  // namespace switchfold
