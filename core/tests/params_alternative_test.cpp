// SPDX-License-Identifier: Apache-2.0
#include "core/params_alternative.h"

#include "core/params_reader.h"
#include "core/params_schema.h"
#include "core/params_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchfold::params_alternative_test {
namespace {

/// A place has rooms, or is a field with an area and perhaps a fence.
struct Place {
    std::string name;
    std::vector<std::uint32_t> rooms;
    std::uint32_t area = 0;
    std::uint32_t fence = 3;
    static constexpr Alternative kAlternative{"rooms", "name"};
    static constexpr auto fields() {
        return list_of(
            field("name", &Place::name, "Name.").required(),
            field("rooms", &Place::rooms, "Areas of rooms."),
            field("area", &Place::area, "Area.").required(),
            field("fence", &Place::fence, "Height."));
    }
};

std::string problem_of(const Json& json) {
    try {
        static_cast<void>(read_params<Place>(json, "place.json"));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(Alternative, OneOfTheTwoIsRequired) {
    EXPECT_EQ(problem_of({{"name", "a"}, {"area", 4}}), "");
    EXPECT_EQ(problem_of({{"name", "a"}, {"rooms", {1, 2}}}), "");
    EXPECT_NE(
        problem_of({{"name", "a"}}).find("/area: is missing; expected it here, or rooms"),
        std::string::npos);
    EXPECT_NE(problem_of({{"rooms", {1}}}).find("/name: is missing"), std::string::npos);
}

TEST(Alternative, NothingOfTheOtherStandsBeside) {
    for (const char* key : {"area", "fence"})
        EXPECT_NE(
            problem_of({{"name", "a"}, {"rooms", {1}}, {key, 4}})
                .find(std::string("/") + key + ": is given beside rooms"),
            std::string::npos)
            << key;
}

TEST(Alternative, OnlyWhatIsGivenIsWritten) {
    Place place{"a", {}, 4};
    EXPECT_EQ(write_value(place).dump(), R"({"name":"a","area":4,"fence":3})");
    place.rooms = {7};
    EXPECT_EQ(write_value(place).dump(), R"({"name":"a","rooms":[7]})");
}

TEST(Alternative, SchemaRequiresByKind) {
    const OrderedJson schema = schema_of<Place>("place")["anyOf"].back();
    EXPECT_EQ(schema["required"].dump(), R"(["name"])");
    EXPECT_EQ(schema["if"].dump(), R"({"required":["rooms"]})");
    EXPECT_EQ(schema["else"].dump(), R"({"required":["area"]})");
    EXPECT_EQ(
        schema["then"].dump(),
        R"({"not":{"anyOf":[{"required":["area"]},{"required":["fence"]}]}})");
}

}  // namespace
}  // namespace switchfold::params_alternative_test
