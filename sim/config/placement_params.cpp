// SPDX-License-Identifier: Apache-2.0
#include "sim/config/placement_params.h"

namespace switchfold {

namespace {
constexpr std::uint32_t kMostParts = 1024;
constexpr const char* kExpectedPlacement =
    "a whole number from 1 to 1024, or an array with an array of layers for each part";
}  // namespace

void read_value(const Cursor& c, PlacementParts& out) {
    out = {};
    if (c.value->is_number_unsigned()) {
        const auto count = c.value->get<std::uint64_t>();
        if (count < 1 || count > kMostParts)
            fail_type(c, kExpectedPlacement);
        else
            out.count = static_cast<std::uint32_t>(count);
        return;
    }
    if (!c.value->is_array() || c.value->empty() || c.value->size() > kMostParts) {
        fail_type(c, kExpectedPlacement);
        return;
    }
    for (const Json& part : *c.value) {
        std::vector<std::string>& layers = out.layers.emplace_back();
        if (!part.is_array() || part.empty()) {
            fail_type(c, kExpectedPlacement);
            return;
        }
        for (const Json& layer : part) {
            if (layer.is_string())
                layers.push_back(layer.get<std::string>());
            else
                fail_type(c, kExpectedPlacement);
        }
    }
    out.count = static_cast<std::uint32_t>(out.layers.size());
}

OrderedJson write_value(const PlacementParts& value) {
    if (value.layers.empty())
        return value.count;
    return value.layers;
}

OrderedJson SchemaOf<PlacementParts>::make() {
    return {
        {"title", "number or array"},
        {"anyOf",
         OrderedJson::array(
             {{{"type", "integer"}, {"minimum", 1}, {"maximum", kMostParts}},
              {{"type", "array"},
               {"items", {{"type", "array"}, {"items", {{"type", "string"}}}, {"minItems", 1}}},
               {"minItems", 1}}})}};
}

}  // namespace switchfold
