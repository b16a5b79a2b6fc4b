// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/quantisation.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Types that a reduction can add. Sums of 16-bit types are rounded to the type after each
/// addition, unless the adder keeps float32 intermediate sums.
enum class ElementType : std::uint8_t { kFloat32, kFloat16, kBfloat16 };
/// Bytes of one element.
[[nodiscard]] constexpr std::uint32_t width_of(ElementType type) {
    return type == ElementType::kFloat32 ? 4 : 2;
}

/// Precision in which an adder keeps a sum until it is complete.
enum class Accumulation : std::uint8_t { kElement, kFloat32 };
/// Ratio of a partial sum's width to the element's.
[[nodiscard]] constexpr std::uint32_t widening(ElementType type, Accumulation accumulation) {
    return accumulation == Accumulation::kFloat32 ? 4 / width_of(type) : 1;
}

/// What the members of a group send, and what its switches make of it.
struct OperandFormat {
    ElementType type = ElementType::kFloat32;
    Quantisation quantised = {};
    OperandFormat(ElementType element = ElementType::kFloat32, const Quantisation& narrow = {}) :
        // NOLINT(google-explicit-constructor)
        type(element),
        quantised(narrow) {}
    /// Width of members' operands.
    [[nodiscard]] std::uint8_t operands() const {
        return quantised.at == QuantisedAt::kGpu ? narrow() : 1;
    }
    /// Of complete sums.
    [[nodiscard]] std::uint8_t sums() const { return quantised.used() ? narrow() : 1; }
    /// Of partial sums, in tables and between switches.
    [[nodiscard]] std::uint8_t partial_sums(Accumulation accumulation) const {
        if (quantised.at == QuantisedAt::kGpu && accumulation == Accumulation::kElement)
            return narrow();
        return static_cast<std::uint8_t>(widening(type, accumulation));
    }

private:
    [[nodiscard]] std::uint8_t narrow() const { return narrow_width(quantised, width_of(type)); }
};

/// Rounds to the nearest value of the type, ties to even; overflow gives infinity.
[[nodiscard]] float round_to(ElementType type, float value);

/// Functional mode: the values that packets carry. A packet carries a handle; 0 means no values.
/// Each copy of a packet holds a reference to its handle and drops it when done.
class ValuePool {
public:
    [[nodiscard]] std::uint32_t put(std::vector<float> values);
    /// Stores `count` values of `from`, starting with index `first`.
    [[nodiscard]] std::uint32_t
    put_part(const std::vector<float>& from, std::uint64_t first, std::uint64_t count);
    [[nodiscard]] const std::vector<float>& get(std::uint32_t handle) const;
    /// Copies the values to `to`, from index `first` on, and drops the handle. 0 has no effect.
    void take(std::uint32_t handle, std::vector<float>& to, std::uint64_t first);
    void share(std::uint32_t handle);
    void drop(std::uint32_t handle);
    /// Handles in use; 0 at the end of a run unless a packet was lost.
    [[nodiscard]] std::size_t live() const { return live_; }

private:
    struct Slot {
        std::vector<float> values;
        std::uint32_t shares = 0;
    };
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;
    std::size_t live_ = 0;
};

/// Adds operands in order. A sum that is `whole` is rounded to the type, or quantised, at the end;
/// a partial one keeps the accumulator's precision. \returns the sum; the operands are dropped.
[[nodiscard]] std::uint32_t fold(
    ValuePool& pool, const std::vector<std::uint32_t>& operands, const OperandFormat& format,
    Accumulation accumulation, bool whole);

}  // namespace switchfold
