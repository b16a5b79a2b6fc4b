// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <stdexcept>
#include <string>

namespace switchfold::error_test {
namespace {

TEST(Error, AConfigErrorSaysEveryProblemOnItsLine) {
    const ConfigError error(
        std::vector<Problem>{{"a.json", "/x", "is 1; expected 2"}, {"b.json", "", "is a list"}});
    EXPECT_STREQ(error.what(), "a.json: /x: is 1; expected 2\nb.json: /: is a list");
    ASSERT_EQ(error.problems().size(), 2U);
    EXPECT_EQ(error.problems()[1].file, "b.json");
}

TEST(Error, AnIoErrorSaysWhatTheSystemSaid) {
    const IoError error("out/result.json", EACCES, "write the file");
    EXPECT_STREQ(error.what(), "out/result.json: /: cannot write the file: Permission denied");
    EXPECT_EQ(error.path(), "out/result.json");
}

TEST(Error, ASimulationErrorSaysWhoAndWhen) {
    const SimulationError error("gpu0.link", nanoseconds(1500), "waits for credits for ever");
    EXPECT_STREQ(error.what(), "gpu0.link at 1.5 us: waits for credits for ever");
    EXPECT_EQ(error.component(), "gpu0.link");
    EXPECT_EQ(error.time(), nanoseconds(1500));
}

TEST(Error, AFalseCheckSaysWhereAndWhat) {
    const int credits = 3;
    EXPECT_NO_THROW(SWITCHFOLD_CHECK(credits == 3, "never seen"));
    try {
        SWITCHFOLD_CHECK(credits == 4, "credits are {}", credits);
        FAIL() << "passed";
    } catch (const InternalError& error) {
        const std::string what = error.what();
        EXPECT_NE(what.find("error_test.cpp:"), std::string::npos) << what;
        EXPECT_NE(what.find("credits are 3: credits == 4 is false"), std::string::npos) << what;
    }
}

TEST(Error, EveryKindHasItsExitCode) {
    EXPECT_EQ(exit_code(ConfigError("f", "/", "m")), ExitCode::kBadInput);
    EXPECT_EQ(exit_code(IoError("f", ENOENT, "open it")), ExitCode::kBadInput);
    EXPECT_EQ(exit_code(SimulationError("c", Time(0), "m")), ExitCode::kUnfinished);
    EXPECT_EQ(
        exit_code(InternalError("a", "b", std::source_location::current())), ExitCode::kInternal);
    EXPECT_EQ(exit_code(std::overflow_error("quantity overflow")), ExitCode::kInternal);
    EXPECT_EQ(static_cast<int>(ExitCode::kOutOfTolerance), 1);
    EXPECT_EQ(static_cast<int>(ExitCode::kBadInput), 2);
    EXPECT_EQ(static_cast<int>(ExitCode::kUnfinished), 3);
    EXPECT_EQ(static_cast<int>(ExitCode::kInternal), 70);
}

}  // namespace
}  // namespace switchfold::error_test
