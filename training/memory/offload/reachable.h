// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace switchfold {

/// Contents of a state of the programme; classes with one interface. `absorb` adds what a
/// predecessor reaches with one more candidate; its last argument is the programme's limit on
/// retained granules, or the price of one.

/// Retained granules, and the value of retaining them.
struct OffloadBest {
    std::uint64_t granules = 0;
    std::uint64_t value = 0;
};

/// Only the fewest retained granules.
class LeastRetained {
public:
    static LeastRetained start() {
        LeastRetained zero;
        zero.least_ = 0;
        return zero;
    }
    [[nodiscard]] bool empty() const { return least_ == kNone; }
    void
    absorb(const LeastRetained& from, std::uint64_t granules, std::uint64_t, std::uint64_t limit) {
        if (from.least_ + granules <= limit)
            least_ = std::min(least_, from.least_ + granules);
    }
    [[nodiscard]] OffloadBest best() const { return {least_, least_}; }
    [[nodiscard]] bool holds(const OffloadBest& best) const { return least_ == best.granules; }

private:
    static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max() / 2;
    std::uint64_t least_ = kNone;
};

/// The most that candidates are worth, minus a price per granule.
class MostBeyondPrice {
public:
    static MostBeyondPrice start() {
        MostBeyondPrice zero;
        zero.worth_ = 0;
        return zero;
    }
    [[nodiscard]] bool empty() const { return worth_ == kNone; }
    void absorb(
        const MostBeyondPrice& from, std::uint64_t granules, std::uint64_t value,
        std::uint64_t price) {
        worth_ = std::max(
            worth_, from.worth_ + static_cast<std::int64_t>(value) -
                        static_cast<std::int64_t>(price * granules));
    }
    [[nodiscard]] std::int64_t worth() const { return worth_; }

private:
    static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min() / 2;
    std::int64_t worth_ = kNone;
};

/// For equal copies: one bit per sum; adding a candidate is a shift.
class ReachableSums {
public:
    static ReachableSums start() {
        ReachableSums zero;
        zero.bits_ = 1;
        zero.words_ = {1};
        return zero;
    }
    [[nodiscard]] bool empty() const { return bits_ == 0; }
    void
    absorb(const ReachableSums& from, std::uint64_t granules, std::uint64_t, std::uint64_t limit) {
        if (granules > limit)
            return;
        const std::uint64_t bits = std::min(from.bits_ + granules, limit + 1);
        if (bits > bits_) {
            bits_ = bits;
            words_.resize((bits + kWord - 1) / kWord);
        }
        const std::size_t skip = granules / kWord;
        const unsigned by = granules % kWord;
        const std::size_t last = (bits + kWord - 1) / kWord;
        const std::size_t many = std::min(from.words_.size(), last - skip);
        const std::uint64_t* in = from.words_.data();
        std::uint64_t* out = words_.data() + skip;
        if (by == 0) {
            for (std::size_t i = 0; i < many; ++i)
                out[i] |= in[i];
        } else {
            out[0] |= in[0] << by;
            for (std::size_t i = 1; i < many; ++i)
                out[i] |= in[i] << by | in[i - 1] >> (kWord - by);
            if (skip + many < last && many > 0)
                out[many] |= in[many - 1] >> (kWord - by);
        }
        if (const unsigned tail = bits_ % kWord; tail != 0)
            words_.back() &= (std::uint64_t{1} << tail) - 1;
    }
    [[nodiscard]] OffloadBest best() const {
        for (std::uint64_t b = bits_; b-- > 0;)
            if ((words_[b / kWord] >> (b % kWord) & 1U) != 0)
                return {b, b};
        return {};
    }
    [[nodiscard]] bool holds(const OffloadBest& best) const {
        return best.granules < bits_ &&
               (words_[best.granules / kWord] >> (best.granules % kWord) & 1U) != 0;
    }

private:
    static constexpr unsigned kWord = 64;
    std::uint64_t bits_ = 0;
    std::vector<std::uint64_t> words_;
};

/// For different copies: the best value of each sum.
class ReachableValues {
public:
    static ReachableValues start() {
        ReachableValues zero;
        zero.values_ = {0};
        return zero;
    }
    [[nodiscard]] bool empty() const { return values_.empty(); }
    void absorb(
        const ReachableValues& from, std::uint64_t granules, std::uint64_t value,
        std::uint64_t limit) {
        if (granules > limit)
            return;
        const std::uint64_t sums =
            std::min<std::uint64_t>(from.values_.size() + granules, limit + 1);
        if (sums > values_.size())
            values_.resize(sums, kNone);
        const std::size_t many = std::min<std::size_t>(from.values_.size(), sums - granules);
        const std::int32_t* in = from.values_.data();
        std::int32_t* out = values_.data() + granules;
        const auto more = static_cast<std::int32_t>(value);
        // Unreachable entries stay negative whatever is added. Blocks of constant length let
        // compilers vectorise.
        constexpr std::size_t kBlock = 16;
        std::size_t i = 0;
        for (; i + kBlock <= many; i += kBlock)
            for (std::size_t j = 0; j < kBlock; ++j)
                out[i + j] = std::max(out[i + j], in[i + j] + more);
        for (; i < many; ++i)
            out[i] = std::max(out[i], in[i] + more);
    }
    [[nodiscard]] OffloadBest best() const {
        const auto most = std::max_element(values_.begin(), values_.end());
        return {
            static_cast<std::uint64_t>(most - values_.begin()), static_cast<std::uint64_t>(*most)};
    }
    [[nodiscard]] bool holds(const OffloadBest& best) const {
        return best.granules < values_.size() && values_[best.granules] >= 0 &&
               static_cast<std::uint64_t>(values_[best.granules]) == best.value;
    }

private:
    static constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::min() / 2;
    std::vector<std::int32_t> values_;
};

}  // namespace switchfold
