// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/runtime/settings.h"

#include <gtest/gtest.h>

#include <map>

namespace switchfold::capture::settings_test {
namespace {

Environment environment(std::map<std::string, std::string> variables) {
    variables.emplace(kDirectoryVariable, "/captures");
    return [variables](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
}

TEST(Settings, WithoutAFolderNothingIsCaptured) {
    EXPECT_FALSE(settings_from([](const std::string&) { return std::nullopt; }).has_value());
    EXPECT_FALSE(settings_from(environment({{kDirectoryVariable, ""}})).has_value());
}

TEST(Settings, AProcessWithoutALauncherIsRankZeroOfOne) {
    const Settings settings = settings_from(environment({})).value();
    EXPECT_EQ(settings.rank, 0U);
    EXPECT_EQ(settings.world_size, 1U);
    EXPECT_EQ(file_name(settings), "rank0.sfcapture");
}

struct Launcher {
    const char* rank;
    const char* size;
};

class EveryLauncher : public ::testing::TestWithParam<Launcher> {};

TEST_P(EveryLauncher, TellsRankAndSize) {
    const Settings settings =
        settings_from(environment({{GetParam().rank, "5"}, {GetParam().size, "16"}})).value();
    EXPECT_EQ(settings.rank, 5U);
    EXPECT_EQ(settings.world_size, 16U);
}

INSTANTIATE_TEST_SUITE_P(
    Settings, EveryLauncher,
    ::testing::Values(
        Launcher{"RANK", "WORLD_SIZE"}, Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
        Launcher{"PMIX_RANK", "PMIX_SIZE"}, Launcher{"PMI_RANK", "PMI_SIZE"},
        Launcher{"SLURM_PROCID", "SLURM_NTASKS"}, Launcher{"LOCAL_RANK", "LOCAL_WORLD_SIZE"}));

TEST(Settings, TheLauncherNextToTheProgramWins) {
    const Settings settings = settings_from(environment(
                                                {{"SLURM_PROCID", "1"},
                                                 {"SLURM_NTASKS", "2"},
                                                 {"RANK", "9"},
                                                 {"WORLD_SIZE", "16"}}))
                                  .value();
    EXPECT_EQ(settings.rank, 9U);
    EXPECT_EQ(settings.world_size, 16U);
}

TEST(Settings, WhatIsNoNumberIsNoRank) {
    const Settings settings =
        settings_from(environment({{"RANK", "x3"}, {"LOCAL_RANK", "2"}})).value();
    EXPECT_EQ(settings.rank, 2U);
    EXPECT_EQ(settings.world_size, 3U);  // not set: at least this rank and those before it
}

TEST(Settings, APassWithCountersHasItsOwnFile) {
    const Settings settings =
        settings_from(environment({{"RANK", "4"}, {kCountersVariable, "1"}})).value();
    EXPECT_TRUE(settings.counters);
    EXPECT_EQ(file_name(settings), "rank4.counters.sfcapture");
}

}  // namespace
}  // namespace switchfold::capture::settings_test
