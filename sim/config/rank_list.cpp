// SPDX-License-Identifier: Apache-2.0
#include "sim/config/rank_list.h"

#include "core/json.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace switchfold {

namespace {

constexpr const char* kExpectedRanks =
    "a rank, ranks such as \"0-3,8\", or an array of ranks below 65536";
constexpr std::uint32_t kMost = 65'535;

std::optional<std::uint32_t> number(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value > kMost)
        return {};
    return value;
}

/// "3" or "0-3".
bool add_range(std::string_view text, std::vector<std::uint32_t>& out) {
    const std::size_t dash = text.find('-');
    const auto first = number(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number(text.substr(dash + 1));
    if (!first || !last || *last < *first)
        return false;
    for (std::uint32_t rank = *first; rank <= *last; ++rank)
        out.push_back(rank);
    return true;
}

bool add_ranges(std::string_view text, std::vector<std::uint32_t>& out) {
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t to = std::min(text.find(',', from), text.size());
        if (!add_range(text.substr(from, to - from), out))
            return false;
        from = to + 1;
    }
    return true;
}

bool add_item(const Json& item, std::vector<std::uint32_t>& out) {
    if (!item.is_number_unsigned() || item.get<std::uint64_t>() > kMost)
        return false;
    out.push_back(item.get<std::uint32_t>());
    return true;
}

}  // namespace

void read_value(const Cursor& c, RankList& out) {
    out = {};
    bool right = true;
    if (c.value->is_string()) {
        right = add_ranges(c.value->get_ref<const std::string&>(), out.ranks);
    } else if (c.value->is_array() && !c.value->empty()) {
        for (const Json& item : *c.value)
            right = right && add_item(item, out.ranks);
    } else {
        right = add_item(*c.value, out.ranks);
    }
    if (!right)
        fail_type(c, kExpectedRanks);
}

OrderedJson write_value(const RankList& value) {
    return value.ranks;
}

OrderedJson SchemaOf<RankList>::make() {
    const OrderedJson rank{{"type", "integer"}, {"minimum", 0}, {"maximum", kMost}};
    return {
        {"title", "ranks"},
        {"anyOf", OrderedJson::array(
                      {rank,
                       {{"type", "string"}, {"pattern", "^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$"}},
                       {{"type", "array"}, {"items", rank}, {"minItems", 1}}})}};
}

}  // namespace switchfold
