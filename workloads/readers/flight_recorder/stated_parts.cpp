// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/flight_recorder/stated_parts.h"

#include <utility>

namespace switchfold::flight_recorder {

void StatedParts::add(
    std::size_t dump, const Entry& entry, std::uint32_t group, std::uint32_t place,
    std::uint32_t members) {
    OfDump& own = dumps_[dump];
    Key key{group, entry.number, 0};
    std::get<2>(key) = own.parts[key]++;
    const auto [found, fresh] = index_.try_emplace(key, calls_.size());
    if (fresh)
        calls_.emplace_back();
    own.calls.push_back({found->second, place});
    Call& call = calls_[found->second];
    const Sums sums{entry.in.bytes, entry.out.bytes};
    call.members = members;
    call.uneven = call.uneven || !entry.in.alike || !entry.out.alike ||
                  (sums.in && sums.out && *sums.in != *sums.out);
    if (!call.sums.empty() && call.sums.begin()->second.in != sums.in)
        call.uneven = true;
    call.sums[place] = sums;
}

StatedParts::Parts StatedParts::next(std::size_t dump, const Entry& entry) {
    OfDump& of_dump = dumps_.at(dump);
    const Own own = of_dump.calls.at(of_dump.next++);
    const Call& call = calls_[own.call];
    if (!call.uneven)
        return {};
    if (auto exchange = by_lists(entry, own, call))
        return {From::kLists, true, std::move(exchange)};
    const std::uint64_t element = size_of(entry.in.datatype.value_or(Datatype::kInt8)).count();
    if (auto exchange = by_sums(element, own, call))
        return {From::kSums, true, std::move(exchange)};
    return {From::kNothing, true, {}};
}

std::optional<UnevenExchange>
StatedParts::by_lists(const Entry& entry, const Own& own, const Call& call) {
    const bool sent = entry.in.bytes && entry.in.parts.size() == call.members;
    const bool received = entry.out.bytes && entry.out.parts.size() == call.members;
    if (!sent && !received)
        return std::nullopt;
    UnevenExchange exchange = UnevenExchange::of(call.members);
    for (std::uint32_t other = 0; other < call.members; ++other) {
        if (received)
            exchange.at(other, own.place) = entry.out.parts[other];
        if (sent)
            exchange.at(own.place, other) = entry.in.parts[other];
    }
    return exchange;
}

std::optional<UnevenExchange>
StatedParts::by_sums(std::uint64_t element, const Own& own, const Call& call) {
    if (call.sums.size() != call.members)
        return std::nullopt;
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (const auto& [place, sums] : call.sums) {
        if (!sums.in || !sums.out)
            return std::nullopt;
        sent += *sums.in;
        received += *sums.out;
    }
    if (sent != received || sent == 0)
        return std::nullopt;
    UnevenExchange exchange = UnevenExchange::of(call.members);
    // Whole elements, whose sum is what the rank sends.
    const std::uint64_t elements = *call.sums.at(own.place).in / element;
    const auto upto = [&](std::uint64_t before) {
        return static_cast<std::uint64_t>(
            static_cast<long double>(elements) * static_cast<long double>(before) /
            static_cast<long double>(received));
    };
    std::uint64_t before = 0;
    for (const auto& [place, sums] : call.sums) {
        const std::uint64_t first = upto(before);
        before += *sums.out;
        exchange.at(own.place, place) =
            ((before == received ? elements : upto(before)) - first) * element;
    }
    return exchange;
}

}  // namespace switchfold::flight_recorder
