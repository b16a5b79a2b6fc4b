// SPDX-License-Identifier: Apache-2.0
#include "sim/config/astra_exchange.h"

#include "models/collectives/programs/readers.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

namespace switchfold {

namespace {

/// Blocks and instructions of the exchange along each dimension. A chunk's place in a memory has a
/// number in each dimension: that of the NPU which it is for, and once it went along the dimension,
/// that of the NPU which it came from.
class DimensionExchange {
public:
    DimensionExchange(const AstraNetwork& network, std::vector<std::string> words) :
        words_(std::move(words)) {
        for (const AstraDimension& dimension : network.dimensions) {
            npus_.push_back(dimension.npus);
            strides_.push_back(ranks_);
            ranks_ *= dimension.npus;
        }
    }

    OrderedJson run() {
        OrderedJson names = OrderedJson::array();
        for (std::size_t d = 0; d < npus_.size(); ++d)
            names.push_back(
                OrderedJson{{place_in(d), fmt::format("r / {} % {}", strides_[d], npus_[d])}});
        for (std::size_t d = 0; d < npus_.size(); ++d) {
            const OrderedJson before = std::exchange(ends_, OrderedJson::array());
            if (is_direct_word(words_[d]))
                add_direct(d, before);
            else
                add_ring(d, before);
        }
        return {
            {"name", "along the dimensions"},
            {"collective", "all_to_all"},
            {"needs", fmt::format("n == {}", ranks_)},
            {"let", names},
            {"chunks", ranks_},
            {"scratch", transit(npus_.size())},
            {"blocks", blocks_}};
    }

    /// Over all ranks.
    [[nodiscard]] std::uint64_t instructions() const {
        std::uint64_t of_rank = 0;
        for (std::size_t d = 0; d < npus_.size(); ++d) {
            const std::uint64_t others = npus_[d] - 1;
            const std::uint64_t hops = is_direct_word(words_[d]) ? 0 : others * (others - 1) / 2;
            of_rank += parts(d) * (1 + 2 * others + hops) + 1;
        }
        return of_rank * ranks_;
    }
    /// Of a rank.
    [[nodiscard]] std::uint64_t blocks() const {
        std::uint64_t all = 0;
        for (std::size_t d = 0; d < npus_.size(); ++d)
            all += is_direct_word(words_[d]) ? npus_[d] - 1 : 1;
        return all;
    }
    [[nodiscard]] std::uint64_t ranks() const { return ranks_; }

private:
    [[nodiscard]] static std::string place_in(std::size_t d) {
        return fmt::format("x{}", static_cast<char>('a' + d));
    }
    /// Chunks that are for one place in the dimension.
    [[nodiscard]] std::uint64_t parts(std::size_t d) const { return ranks_ / npus_[d]; }
    /// Where chunks on their way through a rank stand: behind those between two dimensions.
    [[nodiscard]] std::uint64_t transit(std::size_t d) const {
        return (npus_.size() - 1) * ranks_ + d;
    }
    /// Of the rank so far away along the dimension.
    [[nodiscard]] std::string peer(std::size_t d, const std::string& away) const {
        return fmt::format(
            "r + (({0} {1}) % {2} - {0}) * {3}", place_in(d), away, npus_[d], strides_[d]);
    }
    /// The part j for or of that rank, before or after the exchange along a dimension.
    [[nodiscard]] OrderedJson
    chunk(std::size_t d, const std::string& away, std::size_t dimensions_done) const {
        std::string at = fmt::format(
            "j / {0} * {1} + ({2} {3}) % {4} * {0} + j % {0}", strides_[d], strides_[d] * npus_[d],
            place_in(d), away, npus_[d]);
        if (dimensions_done == 0)
            return {{"input", at}};
        if (dimensions_done == npus_.size())
            return {{"buffer", at}};
        return {{"scratch", fmt::format("{} + {}", (dimensions_done - 1) * ranks_, at)}};
    }
    [[nodiscard]] OrderedJson own_part(std::size_t d) const {
        return {
            {"do", "copy"},
            {"for", {{"j", {0, parts(d)}}}},
            {"from", chunk(d, "+ 0", d)},
            {"to", chunk(d, "+ 0", d + 1)}};
    }

    OrderedJson& begun(std::size_t d, const std::string& away, const OrderedJson& before) {
        const std::string name = fmt::format("exchange {}, {}", d, away);
        OrderedJson block{
            {"name", name},
            {"channel", d},
            {"receive", peer(d, "- " + away)},
            {"send", peer(d, "+ " + away)},
            {"steps", OrderedJson::array()}};
        if (!before.empty())
            block["steps"].push_back({{"do", "nothing"}, {"after", before}});
        if (away == "1")
            block["steps"].push_back(own_part(d));
        ends_.push_back({{"block", name}, {"step", "end"}});
        blocks_.push_back(std::move(block));
        return blocks_.back();
    }
    /// What comes from so far behind.
    [[nodiscard]] OrderedJson arrival(std::size_t d, const std::string& away) const {
        return {{"name", "end"}, {"do", "receive"}, {"to", chunk(d, "- " + away, d + 1)}};
    }
    void add_direct(std::size_t d, const OrderedJson& before) {
        for (std::uint32_t k = 1; k < npus_[d]; ++k) {
            const std::string away = std::to_string(k);
            const OrderedJson sent{{"do", "send"}, {"from", chunk(d, "+ " + away, d)}};
            begun(d, away, before)["steps"].push_back(
                {{"for", {{"j", {0, parts(d)}}}},
                 {"steps", OrderedJson::array({sent, arrival(d, away)})}});
        }
    }
    void add_ring(std::size_t d, const OrderedJson& before) {
        const OrderedJson sent{{"do", "send"}, {"from", chunk(d, "+ k", d)}};
        const OrderedJson passed_on{
            {"do", "receive_copy_send"},
            {"for", {{"h", {1, "k"}}}},
            {"to", {{"scratch", transit(d)}}}};
        const OrderedJson of_part{
            {"for", {{"j", {0, parts(d)}}}},
            {"steps", OrderedJson::array({sent, passed_on, arrival(d, "k")})}};
        begun(d, "1", before)["steps"].push_back(
            {{"for", {{"k", {1, npus_[d]}}}}, {"steps", OrderedJson::array({of_part})}});
    }

    std::vector<std::string> words_;
    std::vector<std::uint32_t> npus_;
    std::vector<std::uint64_t> strides_;  ///< between the ranks of neighbours
    std::uint64_t ranks_ = 1;
    OrderedJson blocks_ = OrderedJson::array();
    OrderedJson ends_ = OrderedJson::array();  ///< last steps of the latest dimension
};

}  // namespace

bool is_direct_word(const std::string& word) {
    return word.starts_with("direct");
}

OrderedJson exchange_program(const AstraNetwork& network, const std::vector<std::string>& words) {
    return DimensionExchange(network, words).run();
}

std::string why_no_exchange(const AstraNetwork& network, const std::vector<std::string>& words) {
    const DimensionExchange exchange(network, words);
    constexpr std::uint64_t kMostAtATime = 64;
    if (exchange.ranks() > programs::kMostRanks ||
        exchange.instructions() > programs::kMostInstructions)
        return fmt::format(
            "a program of {} NPUs would have {} instructions", exchange.ranks(),
            exchange.instructions());
    if (exchange.blocks() > kMostAtATime)
        return fmt::format("{} messages at a time are too many", exchange.blocks());
    return {};
}

}  // namespace switchfold
