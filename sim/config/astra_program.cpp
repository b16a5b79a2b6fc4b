// SPDX-License-Identifier: Apache-2.0
#include "sim/config/astra_program.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

/// The rings of a collective along the dimensions.
class DimensionRings {
public:
    DimensionRings(const AstraNetwork& network, CollectiveKind kind) : kind_(kind) {
        for (const AstraDimension& dimension : network.dimensions)
            ranks_ *= dimension.npus;
        // Chunks that a rank and those that differ from it in later dimensions have in common. In
        // an all-reduce they follow each other; otherwise each is the share of a rank.
        std::string base = "0";
        std::uint32_t stride = 1;
        for (const AstraDimension& dimension : network.dimensions) {
            Ring& ring = rings_.emplace_back();
            ring.npus = dimension.npus;
            ring.stride = stride;
            ring.parts = ranks_ / (stride * dimension.npus);
            ring.base = base;
            ring.place = fmt::format("x{}", static_cast<char>('a' + rings_.size() - 1));
            ring.width = kind == CollectiveKind::kAllReduce ? ring.parts : stride;
            ring.apart = kind == CollectiveKind::kAllReduce ? 1 : stride * dimension.npus;
            base = fmt::format("{} + {} * {}", base, ring.place, ring.width);
            stride *= dimension.npus;
        }
    }

    OrderedJson run() {
        const std::size_t all = rings_.size();
        const bool reduces = kind_ == CollectiveKind::kAllReduce;
        if (kind_ != CollectiveKind::kAllGather)
            for (std::size_t d = 0; d + (reduces ? 1 : 0) < all; ++d)
                add("scatter", d, scatter_steps(d));
        if (reduces)
            add("sum", all - 1, sum_steps(all - 1));
        if (kind_ != CollectiveKind::kReduceScatter)
            for (std::size_t d = all - (reduces ? 1 : 0); d-- > 0;)
                add("gather", d, gather_steps(d));
        OrderedJson names = OrderedJson::array();
        for (const Ring& ring : rings_)
            names.push_back(
                OrderedJson{{ring.place, fmt::format("r / {} % {}", ring.stride, ring.npus)}});
        return {
            {"name", "along the dimensions"},
            {"collective", std::string(to_string(kind_))},
            {"needs", fmt::format("n == {}", ranks_)},
            {"let", names},
            {"chunks", ranks_},
            {"blocks", blocks_}};
    }

private:
    struct Ring {
        std::uint32_t npus = 0;
        std::uint32_t stride = 1;  ///< between the ranks of neighbours
        std::uint32_t parts = 1;   ///< chunks of each of them
        std::string base;
        std::string place;        ///< name of the rank's number in it
        std::uint32_t width = 1;  ///< between the first chunks of neighbours
        std::uint32_t apart = 1;  ///< between the chunks of one
    };

    [[nodiscard]] std::string peer(const Ring& of, const char* sign) const {
        return fmt::format(
            "r + (({} {} 1) % {} - {}) * {}", of.place, sign, of.npus, of.place, of.stride);
    }
    /// Of the part j of the rank so far behind or before.
    [[nodiscard]] std::string chunk(std::size_t d, const std::string& away) const {
        const Ring& of = rings_[d];
        return fmt::format(
            "{} + ({} {}) % {} * {} + j{}", of.base, of.place, away, of.npus, of.width,
            of.apart == 1 ? "" : fmt::format(" * {}", of.apart));
    }
    /// What comes is added and handed on.
    [[nodiscard]] OrderedJson partial_sums(std::size_t d) const {
        return OrderedJson::array(
            {{{"do", "send"}, {"chunk", chunk(d, "- 1")}},
             {{"do", "receive_reduce_send"},
              {"for", {{"k", {2, rings_[d].npus}}}},
              {"chunk", chunk(d, "- k")}}});
    }
    [[nodiscard]] OrderedJson handed_on(std::size_t d) const {
        return {
            {"do", "receive_copy_send"},
            {"for", {{"k", {1, rings_[d].npus - 1}}}},
            {"chunk", chunk(d, "- k")}};
    }
    [[nodiscard]] OrderedJson scatter_steps(std::size_t d) const {
        OrderedJson steps = partial_sums(d);
        steps.push_back(
            {{"name", "end"}, {"do", "receive_reduce_copy"}, {"chunk", chunk(d, "+ 0")}});
        return steps;
    }
    [[nodiscard]] OrderedJson sum_steps(std::size_t d) const {
        OrderedJson steps = partial_sums(d);
        steps.push_back({{"do", "receive_reduce_copy_send"}, {"chunk", chunk(d, "+ 0")}});
        steps.push_back(handed_on(d));
        steps.push_back({{"name", "end"}, {"do", "receive"}, {"chunk", chunk(d, "+ 1")}});
        return steps;
    }
    [[nodiscard]] OrderedJson gather_steps(std::size_t d) const {
        return OrderedJson::array(
            {{{"do", "send"}, {"chunk", chunk(d, "+ 0")}},
             handed_on(d),
             {{"name", "end"}, {"do", "receive"}, {"chunk", chunk(d, "+ 1")}}});
    }
    /// A block that begins when the one before has ended.
    void add(const char* does, std::size_t d, OrderedJson steps) {
        const Ring& of = rings_[d];
        OrderedJson block{
            {"name", fmt::format("{} {}", does, d)},
            {"channel", 2 * d + (std::string_view(does) == "gather" ? 1 : 0)},
            {"receive", peer(of, "-")},
            {"send", peer(of, "+")},
            {"steps", OrderedJson::array()}};
        if (!blocks_.empty())
            block["steps"].push_back(
                {{"do", "nothing"},
                 {"after", {{"block", blocks_.back()["name"]}, {"step", "end"}}}});
        block["steps"].push_back({{"for", {{"j", {0, of.parts}}}}, {"steps", std::move(steps)}});
        blocks_.push_back(std::move(block));
    }

    CollectiveKind kind_;
    std::uint32_t ranks_ = 1;
    std::vector<Ring> rings_;
    OrderedJson blocks_ = OrderedJson::array();
};

}  // namespace

OrderedJson dimension_program(const AstraNetwork& network, CollectiveKind kind) {
    return DimensionRings(network, kind).run();
}

}  // namespace switchfold
