// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/values.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace switchfold {

/// 8-bit numbers as tables of what each code is worth: another way to what quantisation.cpp
/// computes.
class NarrowReference {
public:
    explicit NarrowReference(const Quantisation& quantised) : quantised_(quantised) {
        switch (quantised.format) {
        case NarrowFormat::kInt8:
            for (int code = 0; code <= 127; ++code)
                worth_.push_back(code);
            break;
        case NarrowFormat::kFloat8E4m3:
            for (int code = 0; code <= 0x7E; ++code)
                worth_.push_back(float_of(code, 3, 7));
            break;
        case NarrowFormat::kFloat8E5m2:
            for (int code = 0; code <= 0x7B; ++code)
                worth_.push_back(float_of(code, 2, 15));
            break;
        }
    }
    [[nodiscard]] double largest() const { return worth_.back(); }
    /// The nearest number; of two, that with the even code.
    [[nodiscard]] double nearest(double value) const {
        const double magnitude = std::fabs(value);
        const auto above = std::lower_bound(worth_.begin(), worth_.end(), magnitude);
        double found = worth_.back();
        if (above == worth_.begin()) {
            found = 0;
        } else if (above != worth_.end()) {
            const double below = *(above - 1);
            const bool even = (above - worth_.begin()) % 2 == 0;
            const double up = *above - magnitude;
            const double down = magnitude - below;
            found = up < down || (up == down && even) ? *above : below;
        }
        return std::copysign(found, value);
    }
    [[nodiscard]] float scale(float largest_of_block) const {
        const auto most = static_cast<float>(largest());
        if (quantised_.scale_bytes == 1) {
            double scale = 0x1p-126;
            while (scale * most < largest_of_block)
                scale *= 2;
            return static_cast<float>(scale);
        }
        float scale = std::max(largest_of_block / most, 0x1p-126F);
        if (quantised_.scale_bytes == 2) {
            int exponent = 0;
            const double mantissa = std::frexp(scale, &exponent);
            return static_cast<float>(std::ldexp(std::ceil(mantissa * 256) / 256, exponent));
        }
        while (scale * most < largest_of_block)
            scale = std::nextafter(scale, INFINITY);
        return scale;
    }
    [[nodiscard]] std::vector<float> quantised(std::vector<float> numbers) const {
        for (std::size_t first = 0; first < numbers.size(); first += quantised_.block) {
            const std::size_t end = std::min<std::size_t>(first + quantised_.block, numbers.size());
            float most = 0;
            for (std::size_t i = first; i < end; ++i)
                most = std::max(most, std::fabs(numbers[i]));
            const float s = scale(most);
            for (std::size_t i = first; i < end; ++i)
                numbers[i] = static_cast<float>(nearest(numbers[i] / s)) * s;
        }
        return numbers;
    }
    /// What a unit makes of these operands in this order.
    [[nodiscard]] std::vector<float>
    sum(const std::vector<std::vector<float>>& operands, ElementType type,
        Accumulation accumulation) const {
        const bool at_gpu = quantised_.at == QuantisedAt::kGpu;
        const bool each = accumulation == Accumulation::kElement;
        std::vector<float> total;
        for (const std::vector<float>& own : operands) {
            const std::vector<float> sent = at_gpu ? quantised(own) : own;
            if (total.empty()) {
                total = sent;
                continue;
            }
            for (std::size_t i = 0; i < total.size(); ++i) {
                total[i] += sent[i];
                if (each && !at_gpu)
                    total[i] = round_to(type, total[i]);
            }
            if (each && at_gpu)
                total = quantised(total);
        }
        return each && at_gpu ? total : quantised(total);
    }

private:
    static double float_of(int code, int mantissa, int bias) {
        const int exponent = code >> mantissa;
        const int fraction = code & ((1 << mantissa) - 1);
        if (exponent == 0)
            return std::ldexp(fraction, 1 - bias - mantissa);
        return std::ldexp((1 << mantissa) + fraction, exponent - bias - mantissa);
    }
    Quantisation quantised_;
    std::vector<double> worth_;
};

}  // namespace switchfold
