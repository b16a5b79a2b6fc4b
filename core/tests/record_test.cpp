// SPDX-License-Identifier: Apache-2.0
#include "core/byte_codec.h"
#include "core/record_json.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace switchfold::record_test {
namespace {

enum class Colour : std::uint8_t { kRed, kBlue };

struct Inner {
    double us = 0;
    Colour colour = Colour::kRed;
    bool operator==(const Inner&) const = default;
    static constexpr auto fields() {
        return list_of(member("us", &Inner::us, Form::kMicro), member("colour", &Inner::colour));
    }
};

struct Outer {
    std::string name;
    std::string why;
    std::optional<double> share;
    std::vector<Inner> inner;
    std::map<std::string, std::uint64_t> counts;
    std::optional<Inner> extra;
    std::uint64_t sent = 0;
    bool operator==(const Outer&) const = default;
    static constexpr auto fields() {
        using O = Outer;
        return list_of(
            member("name", &O::name), member("why", &O::why).or_null(),
            member("share", &O::share, Form::kSixDigits), member("inner", &O::inner),
            member("counts", &O::counts), member("extra", &O::extra).if_any(),
            member("sent", &O::sent).sent_only());
    }
};

Outer any_outer() {
    Outer outer;
    outer.name = *rc::gen::arbitrary<std::string>();
    if (*rc::gen::arbitrary<bool>())
        outer.share = *rc::gen::arbitrary<double>();
    for (std::size_t i = *rc::gen::inRange<std::size_t>(0, 3); i > 0; --i)
        outer.inner.push_back({*rc::gen::arbitrary<double>(), Colour::kBlue});
    outer.counts = *rc::gen::arbitrary<std::map<std::string, std::uint64_t>>();
    if (*rc::gen::arbitrary<bool>())
        outer.extra.emplace().us = 2;
    outer.sent = *rc::gen::arbitrary<std::uint64_t>();
    return outer;
}

RC_GTEST_PROP(Record, ItsBytesGiveItBack, ()) {
    const Outer outer = any_outer();
    const std::string bytes = value_bytes(outer);
    RC_ASSERT(value_of_bytes<Outer>(bytes) == outer);
    const auto length = *rc::gen::inRange<std::size_t>(0, bytes.size());
    RC_ASSERT_THROWS_AS(value_of_bytes<Outer>(bytes.substr(0, length)), InternalError);
    RC_ASSERT_THROWS_AS(value_of_bytes<Outer>(bytes + '\0'), InternalError);
}

}  // namespace
}  // namespace switchfold::record_test

template <>
struct switchfold::EnumNames<switchfold::record_test::Colour> {
    using Colour = switchfold::record_test::Colour;
    static constexpr std::array<std::pair<Colour, std::string_view>, 2> kNames{
        {{Colour::kRed, "red"}, {Colour::kBlue, "blue"}}};
};

namespace switchfold::record_test {
namespace {

Outer sample() {
    Outer outer;
    outer.name = "one";
    outer.share = 1.0 / 3;
    outer.inner = {{0.12345678, Colour::kBlue}, {-1e-9, Colour::kRed}};
    outer.counts = {{"a", 1}};
    outer.sent = 7;
    return outer;
}

Outer read(const Json& json) {
    static const std::string kFile = "r.json";
    Outer outer;
    read_record(JsonNode(json, kFile, ""), outer);
    return outer;
}

Problem problem_of(const Json& json) {
    try {
        static_cast<void>(read(json));
    } catch (const ConfigError& error) {
        return error.problems().front();
    }
    return {"", "nothing was thrown", ""};
}

TEST(Record, ItsJsonHasTheMembersInOrderEachInItsForm) {
    EXPECT_EQ(
        record_json(sample()).dump(),
        R"({"name":"one","why":null,"share":0.333333,"inner":[{"us":0.123457,"colour":"blue"},)"
        R"({"us":0.0,"colour":"red"}],"counts":{"a":1}})");
    Outer more = sample();
    more.share = std::numeric_limits<double>::infinity();
    more.why = "no";
    more.extra.emplace();
    const OrderedJson json = record_json(more);
    EXPECT_TRUE(json["share"].is_null());
    EXPECT_EQ(json["why"], "no");
    EXPECT_EQ(json["extra"]["us"], 0);
}

TEST(Record, ItsJsonGivesItBack) {
    const Json json = Json::parse(record_json(sample()).dump());
    const Outer back = read(json);
    EXPECT_EQ(record_json(back), record_json(sample()));
    EXPECT_EQ(back.sent, 0U);
    EXPECT_FALSE(back.extra);
}

TEST(Record, WhatIsWrongInItsJsonIsToldWithItsPlace) {
    const Json json = Json::parse(record_json(sample()).dump());
    for (const char* key : {"name", "why", "share", "inner", "counts"}) {
        Json broken = json;
        broken.erase(key);
        EXPECT_EQ(problem_of(broken).message.find(key), 8U) << problem_of(broken).message;
        broken[key] = Json::array({Json::array()});
        EXPECT_EQ(problem_of(broken).pointer.rfind(std::string("/") + key, 0), 0U);
    }
    Json broken = json;
    broken["inner"][1]["colour"] = "green";
    EXPECT_EQ(problem_of(broken).pointer, "/inner/1/colour");
    EXPECT_EQ(problem_of(broken).message, "is \"green\"; expected one of: red, blue");
    broken["inner"][1]["colour"] = "red";
    broken["counts"]["a/b"] = -1;
    EXPECT_EQ(problem_of(broken).pointer, "/counts/a~1b");
}

}  // namespace
}  // namespace switchfold::record_test
