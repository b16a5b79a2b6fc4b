// SPDX-License-Identifier: Apache-2.0
// Tests for reading JSON piece by piece and for what a file's first bytes say.
#include "core/error.h"
#include "workloads/readers/input/json_fields.h"
#include "workloads/readers/input/json_stream.h"
#include "workloads/readers/json_beginning.h"
#include "workloads/tests/temporary_file.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchfold::json_input_test {
namespace {

using test_data::TemporaryFile;

/// What the stream passes on for a place: "pointer=value".
std::vector<std::string> taken(const std::string& text, const std::string& place) {
    const TemporaryFile file("file.json", text);
    std::vector<std::string> all;
    JsonStream stream(file.path());
    stream.on(place, [&all](const std::string& pointer, const Json& value) {
        all.push_back(pointer + "=" + value.dump());
    });
    stream.run();
    return all;
}

std::string message(const std::string& text) {
    try {
        static_cast<void>(taken(text, "/a/*"));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "accepted";
}

using StringInterner = std::vector<std::string>;

TEST(JsonStream, PassesOnWhatWasNamedAndNothingElse) {
    const std::string text =
        R"({"a": [{"x": [1, 2.5, -3]}, "t", null], "b": {"a": [7]}, "c": [{"k": true}, {"k": {"l": 1}}]})";
    EXPECT_EQ(
        taken(text, "/a/*"),
        (StringInterner{R"(/a/0={"x":[1,2.5,-3]})", R"(/a/1="t")", "/a/2=null"}));
    EXPECT_EQ(taken(text, "/b"), (StringInterner{R"(/b={"a":[7]})"}));
    EXPECT_EQ(taken(text, "/c/*/k"), (StringInterner{"/c/0/k=true", R"(/c/1/k={"l":1})"}));
    EXPECT_EQ(taken(text, "/a/1"), (StringInterner{R"(/a/1="t")"}));
    EXPECT_TRUE(taken(text, "/d").empty());
    EXPECT_EQ(taken("[3, 4]", "/*"), (StringInterner{"/0=3", "/1=4"}));
}

TEST(JsonStream, NamesTheByteOfAnError) {
    EXPECT_NE(message(R"({"a": [1, 2)").find("ends too early"), std::string::npos);
    EXPECT_NE(message(R"({"a": [1, x]})").find("byte 1"), std::string::npos);
    EXPECT_NE(message(R"({"a": [1]} {})").find("is not JSON"), std::string::npos);
    EXPECT_NE(message("").find("ends too early"), std::string::npos);
}

TEST(JsonStream, BoundsDepthAndLength) {
    EXPECT_NE(
        message(R"({"a": [)" + std::string(100, '[') + std::string(100, ']') + "]}")
            .find("nested more than 64 deep"),
        std::string::npos);
    EXPECT_NE(
        message(std::string(20'000, '[')).find("nested more than 10,000 deep"), std::string::npos);
    const std::string long_text(17U << 20U, 'x');
    EXPECT_NE(message(R"({"a": [")" + long_text + "\"]}").find("16 MiB"), std::string::npos);
    // A file may be long as long as none of its parts is.
    std::string many = R"({"a": [)";
    constexpr std::size_t kParts = 18;
    for (std::size_t i = 0; i < kParts; ++i)
        many += "\"" + std::string(1U << 20U, 'x') + "\",";
    const TemporaryFile file("long.json", many + "0]}");
    std::size_t count = 0;
    JsonStream stream(file.path());
    stream.on("/a/*", [&count](const std::string&, const Json&) { ++count; });
    stream.run();
    EXPECT_EQ(count, kParts + 1);
}

TEST(JsonFields, SayWhatIsWrongWhere) {
    const Json value = Json::parse(R"({"n": -1, "t": 5, "o": [], "big": 300, "list": [1]})");
    const std::string file = "f.json";
    const JsonFields fields(value, file, "/x");
    const auto says = [](auto read) {
        try {
            read();
        } catch (const ConfigError& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_EQ(
        says([&] { static_cast<void>(fields.whole("n", 10)); }),
        "f.json: /x/n: is -1; expected a whole number of at most 10");
    EXPECT_EQ(
        says([&] { static_cast<void>(fields.whole("big", 10)); }),
        "f.json: /x/big: is 300; expected a whole number of at most 10");
    EXPECT_EQ(
        says([&] { static_cast<void>(fields.whole("no", 10)); }),
        "f.json: /x/no: is missing; expected a whole number");
    EXPECT_EQ(
        says([&] { static_cast<void>(fields.text("t")); }), "f.json: /x/t: is 5; expected a text");
    EXPECT_EQ(
        says([&] { static_cast<void>(fields.object("o")); }),
        "f.json: /x/o: is an array; expected an object");
    EXPECT_EQ(
        says([&] { static_cast<void>(fields.objects("list")); }),
        "f.json: /x/list/0: is 1; expected an object");
    EXPECT_EQ(fields.whole_if_any("no", 1), std::nullopt);
}

TEST(JsonBeginning, ListsTheFirstObjectsKeys) {
    const JsonBeginning one = json_beginning(R"( {"a": {"b": 1, "c": [2]}, "d\"e": "x:y", "f": [)");
    EXPECT_EQ(one.keys, (StringInterner{"a", "d\\\"e", "f"}));
    EXPECT_FALSE(one.list);
    EXPECT_FALSE(one.lines);
    const JsonBeginning list = json_beginning(R"([{"a": {"b": 1}, "c": 2}, {"d": 3}])");
    EXPECT_EQ(list.keys, (StringInterner{"a", "c"}));
    EXPECT_TRUE(list.list);
    const JsonBeginning lines = json_beginning("{\"a\": {}}\n{\"b\": 1}\n");
    EXPECT_EQ(lines.keys, (StringInterner{"a"}));
    EXPECT_TRUE(lines.lines);
    EXPECT_TRUE(json_beginning("hello").keys.empty());
    EXPECT_TRUE(json_beginning("").keys.empty());
}

}  // namespace
}  // namespace switchfold::json_input_test
