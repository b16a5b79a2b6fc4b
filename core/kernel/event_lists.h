// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace switchfold {

inline constexpr std::uint32_t kNoNode = UINT32_MAX;

/// A linked list of nodes for each value of a digit of `kBits` bits, and a bitmap of the non-empty
/// lists: two bit scans find the first. Nodes lie in a vector and are linked by their `next`, most
/// recently added first.
template <std::size_t kBits>
class NodeLists {
public:
    NodeLists() { lists_.fill(kNoNode); }
    [[nodiscard]] bool empty() const { return words_used_ == 0; }
    /// Only the lowest bits of `digit` count.
    template <class Nodes>
    void put(Nodes& nodes, std::uint64_t digit, std::uint32_t node) {
        const auto at = static_cast<std::size_t>(digit) % kDigits;
        nodes[node].next = std::exchange(lists_[at], node);
        used_[at / kWord] |= std::uint64_t{1} << at % kWord;
        words_used_ |= std::uint64_t{1} << at / kWord;
    }
    /// The lowest digit with a non-empty list. \pre there is one.
    [[nodiscard]] std::size_t first() const {
        const auto word = static_cast<std::size_t>(std::countr_zero(words_used_));
        return word * kWord + static_cast<std::size_t>(std::countr_zero(used_[word]));
    }
    /// \returns the first node of the list, and empties the list.
    [[nodiscard]] std::uint32_t take(std::size_t digit) {
        const std::size_t word = digit / kWord;
        used_[word] &= ~(std::uint64_t{1} << digit % kWord);
        if (used_[word] == 0)
            words_used_ &= ~(std::uint64_t{1} << word);
        return std::exchange(lists_[digit], kNoNode);
    }

private:
    static constexpr std::size_t kDigits = std::size_t{1} << kBits;
    static constexpr std::size_t kWord = 64;
    static_assert(kBits <= 12, "a word of words");
    std::array<std::uint32_t, kDigits> lists_;
    std::array<std::uint64_t, (kDigits + kWord - 1) / kWord> used_{};
    std::uint64_t words_used_ = 0;
};

}  // namespace switchfold
