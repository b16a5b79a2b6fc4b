// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace switchfold {

/// Types that a reduction can add. Sums of 16-bit types are rounded to the type after each addition
/// unless the adder is said to keep float32 in between.
enum class ElementType : std::uint8_t { kFloat32, kFloat16, kBfloat16 };
/// Bytes of one element.
[[nodiscard]] constexpr std::uint32_t width_of(ElementType type) {
    return type == ElementType::kFloat32 ? 4 : 2;
}

/// In what precision an adder keeps a sum until it is complete.
enum class Accumulation : std::uint8_t { kElement, kFloat32 };
/// How many times wider than the element a partial sum is.
[[nodiscard]] constexpr std::uint32_t widening(ElementType type, Accumulation accumulation) {
    return accumulation == Accumulation::kFloat32 ? 4 / width_of(type) : 1;
}

/// Rounds to the nearest value of the type, ties to even; overflow gives infinity.
[[nodiscard]] float round_to(ElementType type, float value);

/// Functional mode: the numbers that packets carry. A handle is what travels; 0 means no numbers.
/// Each copy of a packet holds a share of its handle and drops it when it is done.
class ValuePool {
public:
    [[nodiscard]] std::uint32_t put(std::vector<float> values);
    /// `count` numbers of `from`, beginning with number `first`.
    [[nodiscard]] std::uint32_t
    put_part(const std::vector<float>& from, std::uint64_t first, std::uint64_t count);
    [[nodiscard]] const std::vector<float>& get(std::uint32_t handle) const;
    /// Copies the numbers to `to`, from its number `first` on, and drops the handle. 0 is nothing.
    void take(std::uint32_t handle, std::vector<float>& to, std::uint64_t first);
    void share(std::uint32_t handle);
    void drop(std::uint32_t handle);
    /// Handles in use: 0 at the end of a run, else a packet was lost.
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

/// Adds operands in their order. A sum that is `whole` is rounded to the type at its end; a partial
/// one keeps the accumulator's precision. \returns the sum; the operands are dropped.
[[nodiscard]] std::uint32_t fold(
    ValuePool& pool,
    const std::vector<std::uint32_t>& operands,
    ElementType type,
    Accumulation accumulation,
    bool whole);

}  // namespace switchfold
