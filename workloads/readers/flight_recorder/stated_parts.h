// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/flight_recorder/dump.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace switchfold::flight_recorder {

/// Who sends how much to whom in all-to-alls of unequal parts, as far as the dumps of a run state
/// it: a list of tensors states a part for each peer, a single tensor only their sum.
class StatedParts {
public:
    enum class From : std::uint8_t {
        kNothing,  ///< equal parts, or unequal ones that nobody states
        kLists,
        kSums,  ///< what each rank sends and receives: parts are in proportion to both
    };
    struct Parts {
        From from = From::kNothing;
        bool uneven = false;  ///< some rank's parts differ, or its two sums do
        std::optional<UnevenExchange> exchange;
    };

    /// Takes a call of the rank at `place` of a group of `members`. Calls of a dump in their order.
    void
    add(std::size_t dump, const Entry& entry, std::uint32_t group, std::uint32_t place,
        std::uint32_t members);
    /// What is known of the dump's next all-to-all, in the same order, when all have been added.
    [[nodiscard]] Parts next(std::size_t dump, const Entry& entry);

private:
    /// Group, number, and which of those of one number.
    using Key = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>;
    struct Sums {
        std::optional<std::uint64_t> in;
        std::optional<std::uint64_t> out;
    };
    struct Call {
        std::uint32_t members = 0;
        bool uneven = false;
        std::map<std::uint32_t, Sums> sums;  ///< by place in the group
    };
    struct Own {
        std::size_t call = 0;
        std::uint32_t place = 0;
    };
    struct OfDump {
        std::vector<Own> calls;
        std::size_t next = 0;
        std::map<Key, std::uint32_t> parts;
    };
    static std::optional<UnevenExchange> by_lists(const Entry& entry, const Own& own, const Call&);
    static std::optional<UnevenExchange>
    by_sums(std::uint64_t element, const Own& own, const Call& call);

    std::map<std::size_t, OfDump> dumps_;
    std::map<Key, std::size_t> index_;
    std::vector<Call> calls_;
};

}  // namespace switchfold::flight_recorder
