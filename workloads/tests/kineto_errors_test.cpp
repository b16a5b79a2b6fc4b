// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "workloads/tests/trace_file.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include <zlib.h>

namespace switchfold::kineto_errors_test {
namespace {

using test_data::TemporaryFile;
using test_data::TraceText;

std::string kernel_trace() {
    return TraceText().launch("gemm", "10", "7", "20", "5").text();
}

std::string gzip(const std::string& text) {
    const TemporaryFile file("gz", "");
    gzFile out = gzopen(file.path().c_str(), "wb");
    gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
    gzclose(out);
    return test_data::content_of(file.path());
}

/// The reader's error message for a file with this content, without the file's name.
std::string message(const std::string& content) {
    const TemporaryFile file("trace.json", content);
    try {
        static_cast<void>(read_kineto({{file.path()}}));
    } catch (const ConfigError& error) {
        const std::string text = error.what();
        EXPECT_EQ(text.rfind(file.path().string() + ": ", 0), 0U) << text;
        return text.substr(std::min(text.size(), file.path().string().size() + 2));
    }
    return "accepted";
}

TEST(KinetoErrors, AGoodTraceIsRead) {
    EXPECT_EQ(message(kernel_trace()), "accepted");
    EXPECT_EQ(message(gzip(kernel_trace())), "accepted");
    EXPECT_EQ(message("  " + kernel_trace() + "\n"), "accepted");
}

TEST(KinetoErrors, MissingFile) {
    try {
        static_cast<void>(read_kineto({{"/nowhere/trace.json"}}));
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_NE(
            std::string(error.what()).find("/nowhere/trace.json: /: does not exist"),
            std::string::npos)
            << error.what();
    }
    EXPECT_THROW(static_cast<void>(read_kineto({{"/tmp"}})), ConfigError) << "a folder";
    EXPECT_THROW(static_cast<void>(read_kineto({})), ConfigError) << "no file at all";
}

TEST(KinetoErrors, MoreStreamsThanAnyProgramHas) {
    TraceText text;
    for (int i = 0; i < 4097; ++i)
        text.event("kernel", "k", "7", fmt::format("{}", i), "1", fmt::format("\"stream\": {}", i));
    EXPECT_EQ(message(text.text()), "/: has more than 4096 GPU streams; expected fewer");
}

TEST(KinetoErrors, CutGzip) {
    const std::string whole = gzip(kernel_trace());
    for (const std::size_t size :
         {whole.size() - 1, whole.size() - 8, whole.size() / 2, std::size_t{11}})
        EXPECT_NE(message(whole.substr(0, size)), "accepted") << size;
    std::string broken = whole;
    broken[broken.size() / 2] = static_cast<char>(~broken[broken.size() / 2]);
    EXPECT_NE(message(broken), "accepted");
}

TEST(KinetoErrors, CutJsonNeverPasses) {
    const std::string whole = kernel_trace();
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_NE(message(whole.substr(0, size)), "accepted") << whole.substr(0, size);
}

TEST(KinetoErrors, SaysWhereAndWhatWasExpected) {
    EXPECT_EQ(
        message("hello"), "byte 0: does not begin with an object; expected a Chrome trace in JSON");
    EXPECT_NE(message("{\"a\": 1}").find("there is no \"traceEvents\""), std::string::npos);
    EXPECT_NE(
        message("{\"traceEvents\": 5}").find("byte 16: \"traceEvents\" is not an array"),
        std::string::npos);
    EXPECT_NE(message("{\"traceEvents\": [1]}").find("expected an object"), std::string::npos);
    EXPECT_NE(message("{\"traceEvents\": []} x").find("after the end"), std::string::npos);
    EXPECT_NE(message("{\"traceEvents\": []}").find("holds no GPU kernel"), std::string::npos);
    EXPECT_NE(
        message(TraceText().event("cpu_op", "aten::mm", "1", "1", "2").text())
            .find("holds no GPU kernel"),
        std::string::npos);
}

TEST(KinetoErrors, NamesTheEventAndReportsSeveralAtOnce) {
    const std::string text = message(TraceText()
                                         .launch("gemm", "10", "7", "20", "5")
                                         .event("kernel", "bad", "7", "30", "-5")
                                         .event("kernel", "worse", "7", "9223372036854775808", "1")
                                         .text());
    EXPECT_NE(text.find("event 2: \"dur\" is -5; expected"), std::string::npos) << text;
    EXPECT_NE(text.find("event 3: \"ts\" is 9223372036854775808; expected"), std::string::npos)
        << text;
    EXPECT_NE(text.find("byte "), std::string::npos) << text;
}

TEST(KinetoErrors, RanksThatCannotBe) {
    const auto with = [](const std::string& distributed) {
        return message(TraceText()
                           .header("\"distributedInfo\": " + distributed + ",")
                           .launch("gemm", "10", "7", "20", "5")
                           .text());
    };
    EXPECT_EQ(with(R"({"rank": 1, "world_size": 2})"), "accepted");
    EXPECT_NE(
        with(R"({"rank": 2, "world_size": 2})").find("/distributedInfo/rank: is 2 of 2 ranks"),
        std::string::npos);
    EXPECT_NE(
        with(R"({"rank": -1, "world_size": 2})").find("/distributedInfo/rank: is -1"),
        std::string::npos);
    EXPECT_NE(
        with(R"({"rank": 0, "world_size": "8"})").find("/distributedInfo/world_size: is \"8\""),
        std::string::npos);
}

TEST(KinetoErrors, TwoFilesOfOneRank) {
    const TemporaryFile a("a.json", kernel_trace());
    const TemporaryFile b("b.json", kernel_trace());
    try {
        static_cast<void>(read_kineto({{a.path(), b.path()}}));
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_NE(std::string(error.what()).find("rank 0 is also"), std::string::npos)
            << error.what();
    }
}

TEST(KinetoErrors, MoreThanTheLimitWhenInflated) {
    const TemporaryFile file("bomb.json.gz", gzip(kernel_trace() + std::string(1U << 20U, ' ')));
    KinetoOptions options{{file.path()}};
    options.max_inflated = 1U << 16U;
    try {
        static_cast<void>(read_kineto(options));
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_NE(std::string(error.what()).find("more than 65536 bytes"), std::string::npos)
            << error.what();
    }
}

TEST(KinetoErrors, OddHeadersDoNoHarm) {
    const auto with = [](const std::string& header) {
        return message(TraceText().header(header).launch("gemm", "10", "7", "20", "5").text());
    };
    EXPECT_EQ(with(R"("deviceProperties": 5, "distributedInfo": null,)"), "accepted");
    EXPECT_EQ(
        with(R"("deviceProperties": [{"name": 5, "numSms": -1}], "x": {"a": [1, "]}\""]},)"),
        "accepted");
    EXPECT_EQ(with(R"("big": ")" + std::string(3U << 20U, 'x') + "\","), "accepted");
}

/// A good trace with one byte changed is either read or refused.
RC_GTEST_PROP(KinetoErrorsProperty, NoByteCrashesIt, ()) {
    static const std::string whole = kernel_trace();
    std::string text = whole;
    text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
    const TemporaryFile file("fuzz.json", text);
    try {
        static_cast<void>(read_kineto({{file.path()}}));
    } catch (const ConfigError&) {
    }
}

}  // namespace
}  // namespace switchfold::kineto_errors_test
