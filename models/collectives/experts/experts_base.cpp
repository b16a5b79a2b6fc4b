// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/experts_base.h"

#include "core/error.h"
#include "core/random_stream.h"

#include <fmt/format.h>

#include <bit>

namespace switchfold {

std::vector<float>
token_numbers(std::uint32_t from, std::uint32_t token, std::uint32_t expert_rank) {
    std::vector<float> numbers(kTokenNumbers);
    for (std::size_t i = 0; i < kTokenNumbers; ++i) {
        const std::uint64_t token_bits = mix_bits(std::uint64_t{from} << 32U | token);
        const std::uint64_t bits = mix_bits(token_bits + expert_rank * kTokenNumbers + i + 1);
        const auto whole = static_cast<std::int64_t>(bits >> 40U) - (1LL << 23U);
        numbers[i] = round_to(ElementType::kBfloat16, static_cast<float>(whole) * 0x1p-20F);
    }
    return numbers;
}

std::vector<float> sum_of_copies(const Routing& routing, std::uint32_t from, std::uint32_t token) {
    std::vector<float> sum(kTokenNumbers);
    for (const std::uint16_t rank : routing.destinations(from, token)) {
        const std::vector<float> copy = token_numbers(from, token, rank);
        for (std::size_t i = 0; i < kTokenNumbers; ++i)
            sum[i] += copy[i];
    }
    for (float& value : sum)
        value = round_to(ElementType::kBfloat16, value);
    return sum;
}

ExpertsCollective::ExpertsCollective(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec,
    MemberListener& listener) :
    fabric_(environment.fabric),
    scheduler_(environment.fabric.scheduler()),
    ports_(environment.ports),
    machine_(environment.params),
    params_(environment.params.experts),
    spec_(spec),
    exchange_(*spec.experts),
    listener_(listener),
    client_(environment.fabric.add_client(*this)),
    n_(static_cast<std::uint32_t>(spec.ranks.size())),
    functional_(environment.functional),
    combine_(spec.kind == CollectiveKind::kMoeCombine),
    routing_(exchange_, n_),
    row_(token_bytes(combine_ ? ExpertPayload::kBfloat16 : exchange_.payload, exchange_.hidden)),
    parts_(n_) {
    if (!functional_)
        return;
    results_.resize(n_);
    for (std::uint32_t rank = 0; rank < n_; ++rank)
        results_[rank].resize(
            (combine_ ? routing_.tokens(rank) : routing_.received(rank)) * kTokenNumbers);
}

void ExpertsCollective::join(std::uint32_t /*position*/, Time start) {
    start_ = std::max(start_, start);
    if (++joined_ == n_)
        begin(start_);
}

void ExpertsCollective::part_done(std::uint32_t position) {
    SWITCHFOLD_CHECK(parts_[position] > 0, "a part is done twice");
    if (--parts_[position] == 0)
        listener_.on_member_done(position, scheduler_.now());
}

void ExpertsCollective::finish_if_idle(std::uint32_t position) {
    if (parts_[position] == 0)
        listener_.on_member_done(position, scheduler_.now());
}

std::vector<float> ExpertsCollective::numbers_of(
    std::uint32_t from, std::uint32_t to, std::uint64_t first, std::uint64_t count) const {
    const auto tokens = combine_ ? routing_.tokens_to(to, from) : routing_.tokens_to(from, to);
    std::vector<float> numbers;
    numbers.reserve(count * kTokenNumbers);
    for (const std::uint32_t token : tokens.subspan(first, count)) {
        const std::vector<float> one =
            combine_ ? token_numbers(to, token, from) : token_numbers(from, token, 0);
        numbers.insert(numbers.end(), one.begin(), one.end());
    }
    return numbers;
}

std::string ExpertsCollective::wrong_result() const {
    const auto same = [](float a, float b) {
        return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
    };
    for (std::uint32_t rank = 0; rank < n_; ++rank) {
        std::size_t at = 0;
        const auto wrong = [&](std::uint32_t from, std::uint32_t token, bool sum) {
            const std::vector<float> expected =
                sum ? sum_of_copies(routing_, from, token) : token_numbers(from, token, 0);
            for (const float value : expected)
                if (!same(results_[rank][at++], value))
                    return fmt::format(
                        "token {} of rank {} is {} at rank {}; expected {}", token, from,
                        results_[rank][at - 1], rank, value);
            return std::string();
        };
        for (std::uint32_t token = 0; combine_ && token < routing_.tokens(rank); ++token)
            if (std::string text = wrong(rank, token, true); !text.empty())
                return text;
        for (std::uint32_t from = 0; !combine_ && from < n_; ++from)
            for (const std::uint32_t token : routing_.tokens_to(from, rank))
                if (std::string text = wrong(from, token, false); !text.empty())
                    return text;
    }
    return {};
}

}  // namespace switchfold
