// SPDX-License-Identifier: Apache-2.0
#include "validation/calibrate/knobs.h"

#include "sim/config/changed_system.h"
#include "sim/config/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace switchfold::knobs_test {
namespace {

using namespace validation;  // NOLINT(google-build-using-namespace): what is tested

constexpr Told kAll[] = {Told::kCollectives, Told::kKernels, Told::kCopies};

SystemParams shipped(const char* name) {
    return load_system(std::filesystem::path(SWITCHFOLD_SOURCE_DIR) / "configs/systems" / name, {});
}

const Dial* named(const std::vector<Dial>& dials, std::string_view name) {
    const auto at = std::find_if(
        dials.begin(), dials.end(), [&](const Dial& dial) { return dial.knob->name == name; });
    return at == dials.end() ? nullptr : &*at;
}

TEST(Knobs, EachSaysWhyAndWhatTellsIt) {
    for (const Knob& knob : knobs()) {
        EXPECT_FALSE(knob.why.empty()) << knob.name;
        EXPECT_FALSE(knob.tells.empty()) << knob.name;
        EXPECT_GT(knob.sigma, 0) << knob.name;
        EXPECT_LT(knob.low, 1) << knob.name;
        EXPECT_GT(knob.high, 1) << knob.name;
    }
}

TEST(Knobs, FollowTheTopology) {
    const std::vector<Dial> switched = dials_of(shipped("hgx_h100.json"), kAll);
    EXPECT_NE(named(switched, "links between GPUs"), nullptr);
    EXPECT_EQ(named(switched, "path between sockets"), nullptr);
    EXPECT_EQ(named(switched, "network"), nullptr);
    const std::vector<Dial> cards = dials_of(shipped("l40s_pcie.json"), kAll);
    EXPECT_NE(named(cards, "path between sockets"), nullptr);
    EXPECT_EQ(named(cards, "links between GPUs"), nullptr);
    EXPECT_NE(named(dials_of(shipped("dgx_a100_hdr.json"), kAll), "network"), nullptr);
}

TEST(Knobs, OnlyThoseThatDataAreAbout) {
    const Told copies[] = {Told::kCopies};
    for (const Dial& dial : dials_of(shipped("hgx_h100.json"), copies))
        EXPECT_EQ(dial.knob->told_by, Told::kCopies);
}

TEST(Knobs, NoShareAboveOne) {
    const std::vector<Dial> dials = dials_of(shipped("dgx1_v100.json"), kAll);
    const Dial* links = named(dials, "links between GPUs");
    ASSERT_NE(links, nullptr);
    EXPECT_EQ(links->high, 0);  // 1,000,000 ppm are shipped
    EXPECT_EQ(links->parameters.front().at(1.2), Json(1'000'000));
}

TEST(Knobs, TurnedParametersAreThoseOfTheChangedSystem) {
    const SystemParams system = shipped("hgx_h100.json");
    const std::vector<Dial> dials = dials_of(system, kAll);
    std::vector<double> setting(dials.size(), 0.0);
    EXPECT_TRUE(turned_to(dials, setting).empty());
    for (std::size_t k = 0; k < dials.size(); ++k)
        if (dials[k].knob->name == "launch")
            setting[k] = std::log(1.1);
    const SystemParams changed = changed_system(system, turned_to(dials, setting));
    EXPECT_EQ(changed.collectives->launch_latency, nanoseconds(5610));  // 5.1 us
    EXPECT_EQ(changed.collectives->launch_spread, nanoseconds(660));
    EXPECT_EQ(changed.collectives->host_launch, system.collectives->host_launch);
}

/// Every shipped system takes every knob, at both bounds.
TEST(Knobs, EverySystemIsValidAtTheBounds) {
    const std::filesystem::path folder =
        std::filesystem::path(SWITCHFOLD_SOURCE_DIR) / "configs/systems";
    std::size_t systems = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".json")
            continue;
        const SystemParams system = load_any_system(entry.path(), {});
        if (!system.has_gpus())
            continue;
        const std::vector<Dial> dials = dials_of(system, kAll);
        ++systems;
        for (const bool high : {false, true}) {
            std::vector<double> setting;
            for (const Dial& dial : dials)
                setting.push_back(high ? dial.high : dial.low);
            EXPECT_NO_THROW(static_cast<void>(changed_system(system, turned_to(dials, setting))))
                << system.name;
        }
    }
    EXPECT_GT(systems, 50U);
}

TEST(ChangedSystem, RefusesWhatIsNotThere) {
    const SystemParams system = shipped("hgx_h100.json");
    const Override change{"/topology/links/fast", 1};
    EXPECT_THROW(static_cast<void>(changed_system(system, {&change, 1})), ConfigError);
}

}  // namespace
}  // namespace switchfold::knobs_test
