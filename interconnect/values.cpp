// SPDX-License-Identifier: Apache-2.0
#include "interconnect/values.h"

#include "core/error.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace switchfold {

namespace {

/// Keeps `kept` mantissa bits of a float32, rounding ties to even. \pre the value is in the
/// target's normal range.
float keep_mantissa(float value, unsigned kept) {
    const unsigned dropped = 23 - kept;
    auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t half = (1U << (dropped - 1)) - 1;
    const std::uint32_t odd = (bits >> dropped) & 1U;
    bits += half + odd;
    bits &= ~((1U << dropped) - 1);
    return std::bit_cast<float>(bits);
}

float round_to_half(float value) {
    constexpr float kSmallestNormal = 0x1p-14F;
    constexpr float kSubnormalStep = 0x1p-24F;
    constexpr float kOverflow = 65520.0F;  // halfway between the largest half and the next step
    const float magnitude = std::fabs(value);
    if (magnitude >= kOverflow)
        return std::copysign(INFINITY, value);
    if (magnitude < kSmallestNormal)
        return std::copysign(std::nearbyint(magnitude / kSubnormalStep) * kSubnormalStep, value);
    return keep_mantissa(value, 10);
}

}  // namespace

float round_to(ElementType type, float value) {
    if (std::isnan(value) || std::isinf(value))
        return value;
    switch (type) {
    case ElementType::kFloat16:
        return round_to_half(value);
    case ElementType::kBfloat16:
        return keep_mantissa(value, 7);
    case ElementType::kFloat32:
        break;
    }
    return value;
}

std::uint32_t ValuePool::put(std::vector<float> values) {
    if (free_.empty()) {
        slots_.emplace_back();
        free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    }
    const std::uint32_t handle = free_.back();
    free_.pop_back();
    slots_[handle - 1] = {std::move(values), 1};
    ++live_;
    return handle;
}

const std::vector<float>& ValuePool::get(std::uint32_t handle) const {
    SWITCHFOLD_CHECK(
        handle != 0 && handle <= slots_.size() && slots_[handle - 1].shares > 0,
        "no values under handle {}", handle);
    return slots_[handle - 1].values;
}

std::uint32_t
ValuePool::put_part(const std::vector<float>& from, std::uint64_t first, std::uint64_t count) {
    SWITCHFOLD_CHECK(first + count <= from.size(), "numbers that a buffer does not have");
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
    return put({begin, begin + static_cast<std::ptrdiff_t>(count)});
}

void ValuePool::take(std::uint32_t handle, std::vector<float>& to, std::uint64_t first) {
    if (handle == 0)
        return;
    const std::vector<float>& values = get(handle);
    SWITCHFOLD_CHECK(first + values.size() <= to.size(), "numbers for which a buffer has no place");
    std::copy(values.begin(), values.end(), to.begin() + static_cast<std::ptrdiff_t>(first));
    drop(handle);
}

void ValuePool::share(std::uint32_t handle) {
    if (handle != 0)
        ++slots_[handle - 1].shares;
}

void ValuePool::drop(std::uint32_t handle) {
    if (handle == 0)
        return;
    Slot& slot = slots_[handle - 1];
    SWITCHFOLD_CHECK(slot.shares > 0, "values dropped twice");
    if (--slot.shares == 0) {
        slot.values.clear();
        free_.push_back(handle);
        --live_;
    }
}

std::uint32_t fold(
    ValuePool& pool, const std::vector<std::uint32_t>& operands, const OperandFormat& format,
    Accumulation accumulation, bool whole) {
    std::vector<float> sum = pool.get(operands.front());
    const bool each = accumulation == Accumulation::kElement;
    // What members have quantised is kept so by adders of its own width.
    const bool narrow = each && format.quantised.at == QuantisedAt::kGpu;
    for (std::size_t m = 1; m < operands.size(); ++m) {
        const std::vector<float>& other = pool.get(operands[m]);
        SWITCHFOLD_CHECK(other.size() == sum.size(), "operands of different lengths in one sum");
        for (std::size_t i = 0; i < sum.size(); ++i) {
            sum[i] += other[i];
            if (each && !narrow)
                sum[i] = round_to(format.type, sum[i]);
        }
        if (narrow)
            quantise(format.quantised, sum);
    }
    if (whole && format.quantised.used() && !narrow)
        quantise(format.quantised, sum);
    if (whole && !format.quantised.used())
        for (float& value : sum)
            value = round_to(format.type, value);
    for (const std::uint32_t handle : operands)
        pool.drop(handle);
    return pool.put(std::move(sum));
}

}  // namespace switchfold
