// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::json_test {
namespace {

std::string refusal(std::string_view text) {
    try {
        static_cast<void>(parse_json(text, "f.json"));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Json, CommentsAreAllowed) {
    EXPECT_EQ(parse_json("{\"a\": 1 /* why */} // end", "f.json"), Json({{"a", 1}}));
}

TEST(Json, ASyntaxErrorSaysLineAndColumn) {
    EXPECT_EQ(
        refusal("{\n  \"a\": 1,\n  \"b\": x\n}")
            .rfind("f.json: /: not JSON at line 3, column 8: ", 0),
        0U);
    EXPECT_EQ(refusal("x").rfind("f.json: /: not JSON at line 1, column 1: ", 0), 0U);
    EXPECT_NE(refusal("{\"a\": 1,}"), "accepted");
    EXPECT_NE(refusal("{} {}"), "accepted");
    EXPECT_NE(refusal("").find("line 1, column 1"), std::string::npos);
    EXPECT_NE(refusal("[1,").find("expected valid JSON"), std::string::npos);
    EXPECT_EQ(refusal("{\"a\": \"\n\"}").find('\n'), std::string::npos);
}

TEST(Json, ANumberBeyondADoubleIsRefused) {
    EXPECT_NE(refusal("{\"a\": 1e999}").find("f.json: /: "), std::string::npos);
    EXPECT_NE(refusal("{\"a\": 1e999}").find("1e999"), std::string::npos);
}

TEST(Json, ADuplicateKeyIsRefusedWhereItStands) {
    EXPECT_EQ(
        refusal(R"({"a": 1, "a": 2})"),
        "f.json: /a: the key appears twice in one object; expected it once");
    EXPECT_EQ(
        refusal(R"({"a": [{"b": 1}, [3, {"c/d": 1, "c/d": 1}]], "e": {"f": {}, "f": 2}})"),
        "f.json: /a/1/1/c~1d: the key appears twice in one object; expected it once\n"
        "f.json: /e/f: the key appears twice in one object; expected it once");
    EXPECT_EQ(refusal(R"([{"a": 1}, {"a": 1}])"), "accepted");
}

TEST(Json, WhatIsNestedWithoutEndIsRefused) {
    EXPECT_EQ(refusal(std::string(100, '[') + std::string(100, ']')), "accepted");
    EXPECT_NE(refusal(std::string(1'000'000, '[')).find("nested deeper"), std::string::npos);
}

TEST(Json, AFileThatIsNotThereIsNamedWithTheReason) {
    try {
        static_cast<void>(load_json("no/such/file.json"));
        FAIL() << "was read";
    } catch (const ConfigError& error) {
        EXPECT_STREQ(
            error.what(),
            "no/such/file.json: /: cannot be read: No such file or directory; expected a JSON "
            "file");
        EXPECT_EQ(exit_code(error), ExitCode::kBadInput);
    }
    EXPECT_THROW(static_cast<void>(load_json(std::filesystem::temp_directory_path())), ConfigError);
}

TEST(Json, AnOverrideIsJsonOrElseText) {
    EXPECT_EQ(parse_override("/a/b=300 ns").value, Json("300 ns"));
    EXPECT_EQ(parse_override("/a/b=300 ns").pointer, "/a/b");
    EXPECT_EQ(parse_override("/a=3").value, Json(3));
    EXPECT_EQ(parse_override("/a=[1, true]").value, Json::parse("[1, true]"));
    EXPECT_EQ(parse_override("/a=\"3\"").value, Json("3"));
    EXPECT_EQ(parse_override("/a=x=y").value, Json("x=y"));
    EXPECT_EQ(parse_override("/a=").value, Json(""));
    for (const std::string_view text : {"", "a=1", "/a", "=1"})
        EXPECT_THROW(static_cast<void>(parse_override(text)), ConfigError) << text;
    EXPECT_THROW(static_cast<void>(parse_override(R"(/a={"b": 1, "b": 2})")), ConfigError);
}

TEST(Json, AMessageShowsValuesShortAndInUtf8) {
    EXPECT_EQ(shown(Json(3)), "3");
    EXPECT_EQ(shown(Json("x")), "\"x\"");
    EXPECT_EQ(shown(Json::object()), "an object");
    EXPECT_EQ(shown(Json::array()), "an array");
    EXPECT_EQ(shown(Json(std::string(1000, 'x'))), "\"" + std::string(79, 'x') + "...");
    EXPECT_EQ(shown(Json(" \xFF")), "\" \xEF\xBF\xBD\"");
    std::string accents;
    for (int i = 0; i < 100; ++i)
        accents += "\xC3\xA9";
    const std::string text = shown(Json(accents));
    EXPECT_EQ(text.size(), 79U + 3U);  // 80 bytes would split a character
}

TEST(Json, TheNearestWordIsWithinTwoEdits) {
    constexpr std::array<std::string_view, 4> kKnown{"latency", "lanes", "ll", "bandwidth"};
    EXPECT_EQ(nearest("latncy", kKnown), "latency");
    EXPECT_EQ(nearest("lane", kKnown), "lanes");
    EXPECT_EQ(nearest("badnwidth", kKnown), "bandwidth");
    EXPECT_EQ(nearest("latnc", kKnown), "latency");
    EXPECT_EQ(nearest("latn", kKnown), "");
    EXPECT_EQ(nearest("l2", kKnown), "ll");
    EXPECT_EQ(nearest("xy", kKnown), "");
    EXPECT_EQ(nearest("", kKnown), "");
}

RC_GTEST_PROP(JsonProperty, AnyTextIsReadOrRefusedInOneLine, ()) {
    const auto text = *rc::gen::container<std::string>(
        rc::gen::elementOf(std::string("{}[]\",:0123456789.eE+-truefalsn\\u/* \n\xC3\xA9\x01")));
    RC_ASSERT(refusal(text).find('\n') == std::string::npos);
}

}  // namespace
}  // namespace switchfold::json_test
