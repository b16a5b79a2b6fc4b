// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace switchfold {

/// An all-to-all of equal parts over machines of equally many ranks, simulated on a few of them. A
/// machine's number has digits: its place below a leaf, say, and its leaf's number. Kept are the
/// machines whose digits are 0 or 1, two to the number of digits, with all their ranks. What a kept
/// rank has for a rank whose machine differs from its own in some digits goes to that rank of the
/// kept machine that differs in the same ones, which thus stands for all such machines; and as much
/// comes back from there.
class KeptMachines {
public:
    /// `kept`: ranks, ascending; the machine numbered 2^i among them is one of digit i. `members`:
    /// ranks of a machine.
    KeptMachines(
        const std::vector<std::uint32_t>& kept, std::uint32_t ranks, std::uint32_t members) :
        kept_(kept), members_(members) {
        for (std::uint32_t machine = 1; machine * members < kept.size(); machine *= 2)
            units_.push_back(kept[machine * members]);
        units_.push_back(ranks);
    }
    /// Ranks.
    [[nodiscard]] std::uint32_t kept() const { return static_cast<std::uint32_t>(kept_.size()); }
    /// Ranks of a machine.
    [[nodiscard]] std::uint32_t members() const { return members_; }
    /// A kept rank's number among all.
    [[nodiscard]] std::uint32_t rank_of(std::uint32_t kept) const { return kept_[kept]; }
    /// Bit i: whether digit i of the kept rank's machine differs from that of the rank's machine.
    [[nodiscard]] std::uint32_t differing(std::uint32_t kept, std::uint32_t rank) const {
        std::uint32_t differ = 0;
        for (std::uint32_t digit = 0; digit < digits(); ++digit)
            if (value(rank, digit) != (kept / members_ >> digit & 1U))
                differ |= 1U << digit;
        return differ;
    }
    /// Of all machines, how many differ from a kept one in just these digits.
    [[nodiscard]] std::uint32_t count(std::uint32_t differing) const {
        std::uint32_t machines = 1;
        for (std::uint32_t digit = 0; digit < digits(); ++digit)
            if ((differing >> digit & 1U) != 0)
                machines *= values(digit) - 1;
        return machines;
    }
    /// The kept rank, by its number among these, that stands for `to` as seen from the kept `from`.
    [[nodiscard]] std::uint32_t image(std::uint32_t from, std::uint32_t to) const {
        return (from / members_ ^ differing(from, to)) * members_ + to % members_;
    }
    /// The kept rank, by its number among these, that does the same as any rank.
    [[nodiscard]] std::uint32_t like(std::uint32_t rank) const {
        std::uint32_t machine = 0;
        for (std::uint32_t digit = 0; digit < digits(); ++digit)
            machine |= (value(rank, digit) & 1U) << digit;
        return machine * members_ + rank % members_;
    }

private:
    [[nodiscard]] std::uint32_t digits() const {
        return static_cast<std::uint32_t>(units_.size() - 1);
    }
    [[nodiscard]] std::uint32_t values(std::uint32_t digit) const {
        return units_[digit + 1] / units_[digit];
    }
    [[nodiscard]] std::uint32_t value(std::uint32_t rank, std::uint32_t digit) const {
        return rank / units_[digit] % values(digit);
    }

    std::vector<std::uint32_t> kept_;
    std::uint32_t members_;
    std::vector<std::uint32_t> units_;  ///< ranks, by digit; then all
};

}  // namespace switchfold
