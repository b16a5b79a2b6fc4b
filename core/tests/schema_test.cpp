// SPDX-License-Identifier: Apache-2.0
#include "core/params_schema.h"
#include "core/schema_defs.h"
#include "core/schema_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold::schema_test {
namespace {

struct Wire {
    Bandwidth rate = gigabytes_per_second(25);
    std::uint32_t lanes = 4;
    static constexpr auto fields() {
        return list_of(
            field("rate", &Wire::rate, "Of a lane."),
            field("lanes", &Wire::lanes, "Side by side.", 1U, 64U));
    }
};
struct Box {
    std::string name;
    Wire up;
    std::vector<Wire> down;
    std::optional<Wire> spare;
    static constexpr auto fields() {
        return list_of(
            field("name", &Box::name, "What it is called.").required(),
            field("up", &Box::up, "Towards the host."),
            field("down", &Box::down, "Towards the GPUs."),
            field("spare", &Box::spare, "In reserve."));
    }
};
struct Lone {
    Wire only;
    static constexpr auto fields() {
        return list_of(field("only", &Lone::only, "The one there is."));
    }
};

/// Replaces every reference by its definition.
OrderedJson expanded(OrderedJson schema, const OrderedJson& definitions) {
    if (schema.is_object() && schema.contains("$ref")) {
        OrderedJson whole =
            expanded(definitions[schema["$ref"].get<std::string>().substr(8)], definitions);
        schema.erase("$ref");
        whole.update(schema);
        return whole;
    }
    for (auto& inside : schema)
        if (inside.is_structured())
            inside = expanded(inside, definitions);
    return schema;
}

TEST(SharedDefinitions, WhatStandsTwiceIsDescribedOnce) {
    const OrderedJson schema = schema_of<Box>("box");
    ASSERT_EQ(schema["$defs"].size(), 1U);
    const OrderedJson& properties = schema["anyOf"][1]["properties"];
    EXPECT_EQ(properties["up"]["$ref"], "#/$defs/up");
    EXPECT_EQ(properties["up"]["description"], "Towards the host.");
    EXPECT_EQ(properties["down"]["items"]["$ref"], "#/$defs/up");
    EXPECT_EQ(properties["spare"]["anyOf"][0]["$ref"], "#/$defs/up");
    EXPECT_EQ(schema["$defs"]["up"]["properties"]["lanes"]["maximum"], 64);
}

TEST(SharedDefinitions, WhatStandsOnceStaysInPlace) {
    const OrderedJson schema = schema_of<Lone>("lone");
    EXPECT_FALSE(schema.contains("$defs"));
    EXPECT_TRUE(schema["anyOf"][1]["properties"]["only"].contains("properties"));
}

TEST(SharedDefinitions, NothingIsLost) {
    OrderedJson schema = SchemaOf<Box>::make();
    const OrderedJson whole = schema;
    share_definitions(schema);
    const OrderedJson definitions = schema["$defs"];
    schema.erase("$defs");
    EXPECT_EQ(expanded(schema, definitions), whole);
}

TEST(SharedDefinitions, InnerOnesOfASharedOneStayWithIt) {
    // The wire occurs four times, but only inside a definition that is itself shared.
    const OrderedJson box = SchemaOf<Lone>::make();
    OrderedJson schema{{"properties", {{"left", box}, {"right", box}}}};
    share_definitions(schema);
    ASSERT_EQ(schema["$defs"].size(), 1U);
    EXPECT_TRUE(schema["$defs"]["left"]["properties"]["only"].contains("properties"));
}

TEST(SharedDefinitions, TwoOfOneNameAreToldApart) {
    const OrderedJson one = SchemaOf<Wire>::make();
    const OrderedJson two = SchemaOf<Lone>::make();
    OrderedJson schema{
        {"properties",
         {{"a", {{"properties", {{"link", one}, {"links", {{"items", one}}}}}}},
          {"b", {{"properties", {{"link", two}, {"links", {{"items", two}}}}}}}}}};
    share_definitions(schema);
    EXPECT_EQ(schema["properties"]["a"]["properties"]["link"]["$ref"], "#/$defs/link");
    EXPECT_EQ(schema["properties"]["b"]["properties"]["link"]["$ref"], "#/$defs/link_2");
}

TEST(SchemaTable, ListsKeysTypesDefaultsAndMeanings) {
    EXPECT_EQ(
        schema_table(schema_of<Box>("box"), "box"),
        "| key | type | default | meaning |\n"
        "|---|---|---|---|\n"
        "| `name` | text | required | What it is called. |\n"
        "| `up` | [up](#box-up) |  | Towards the host. |\n"
        "| `down` | array: [up](#box-up) | `[]` | Towards the GPUs. |\n"
        "| `spare` | [up](#box-up) or null | `null` | In reserve. |\n"
        "\n"
        "### box: up\n"
        "\n"
        "| key | type | default | meaning |\n"
        "|---|---|---|---|\n"
        "| `rate` | bandwidth | `\"25 GB/s\"` | Of a lane. |\n"
        "| `lanes` | whole number, 1 to 64 | `4` | Side by side. |\n");
}

TEST(SchemaTable, AnObjectsDefaultsAreThoseOfItsRows) {
    const OrderedJson rate{
        {"type", "string"}, {"default", "25 GB/s"}, {"description", "Of a lane."}};
    const OrderedJson link{
        {"anyOf", {{{"type", "string"}}, {{"type", "object"}, {"properties", {{"rate", rate}}}}}},
        {"default", {{"rate", "25 GB/s"}}},
        {"description", "Up."}};
    const OrderedJson none{
        {"type", "object"}, {"default", OrderedJson::object()}, {"description", "By name."}};
    const std::string table =
        schema_table({{"type", "object"}, {"properties", {{"link", link}, {"none", none}}}}, "box");
    EXPECT_NE(table.find("| `link` | object or path | see below | Up. |"), std::string::npos)
        << table;
    EXPECT_NE(table.find("| `none` | object | `{}` | By name. |"), std::string::npos) << table;
}

TEST(SchemaTable, WhatStandsOnceHasDottedKeys) {
    const std::string table = schema_table(schema_of<Lone>("lone"), "lone");
    EXPECT_NE(table.find("| `only` | object |  | The one there is. |"), std::string::npos);
    EXPECT_NE(table.find("| `only.lanes` | whole number, 1 to 64 |"), std::string::npos);
}

}  // namespace
}  // namespace switchfold::schema_test
