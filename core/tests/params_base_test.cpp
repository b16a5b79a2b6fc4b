// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/params_reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace switchfold::params_base_test {
namespace {

struct Inner {
    std::uint32_t rate = 1;
    std::uint32_t depth = 2;
    static constexpr auto fields() {
        return list_of(
            field("rate", &Inner::rate, "A rate.", 0U, 100U),
            field("depth", &Inner::depth, "A depth."));
    }
};
struct Machine {
    std::string name;
    Inner inner;
    std::optional<Inner> extra;
    std::vector<std::uint32_t> list;
    static constexpr auto fields() {
        return list_of(
            field("name", &Machine::name, "What it is called.").required(),
            field("inner", &Machine::inner, "Inside."), field("extra", &Machine::extra, "More."),
            field("list", &Machine::list, "Numbers."));
    }
};
struct Root {
    PathOr<Machine> machine;
    static constexpr auto fields() {
        return list_of(field("machine", &Root::machine, "The machine.").required());
    }
};

struct Turbine {
    static constexpr std::string_view kType = "turbine";
    std::uint32_t blades = 1;
    std::uint32_t speed = 1;
    static constexpr auto fields() {
        return list_of(
            field("blades", &Turbine::blades, "Blades."),
            field("speed", &Turbine::speed, "Turns a second."));
    }
};

struct Piston {
    static constexpr std::string_view kType = "piston";
    std::uint32_t strokes = 4;
    static constexpr auto fields() {
        return list_of(field("strokes", &Piston::strokes, "Strokes a turn.").required());
    }
};

struct Vehicle {
    std::variant<Turbine, Piston> engine;
    static constexpr auto fields() {
        return list_of(field("engine", &Vehicle::engine, "What drives it.").required());
    }
};

class ParamsBase : public ::testing::Test {
protected:
    ParamsBase() :
        folder_(
            std::filesystem::path(::testing::TempDir()) /
            ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
        std::filesystem::create_directories(folder_);
        write("base.json", R"({"machine": {"name": "base", "inner": {"rate": 7, "depth": 8},
            "extra": {"rate": 3}, "list": [1, 2], "$source": "here"}})");
    }
    ~ParamsBase() override { std::filesystem::remove_all(folder_); }
    void write(const std::string& name, const std::string& text) {
        std::ofstream(folder_ / name) << text;
    }
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
    [[nodiscard]] Root
    read(const std::string& text, const std::vector<Override>& overrides = {}) const {
        return read_params<Root>(Json::parse(text), folder_ / "root.json", overrides);
    }
    [[nodiscard]] std::string problem(const std::string& text) const {
        try {
            (void)read(text);
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "none";
    }

private:
    std::filesystem::path folder_;
};

TEST_F(ParamsBase, WhatStandsBesideTheBaseReplacesItsOwn) {
    const Root root = read(R"({"machine": {"$base": "base.json#/machine", "inner": {"rate": 9},
        "extra": {"depth": 5}, "list": [4], "$source": {"list": "counted"}}})");
    EXPECT_EQ(root.machine->name, "base");
    EXPECT_EQ(root.machine->inner.rate, 9U);
    EXPECT_EQ(root.machine->inner.depth, 8U);
    EXPECT_EQ(root.machine->extra->rate, 3U);
    EXPECT_EQ(root.machine->extra->depth, 5U);
    EXPECT_EQ(root.machine->list, (std::vector<std::uint32_t>{4}));
}

TEST_F(ParamsBase, ABaseMayHaveItsOwn) {
    write("middle.json", R"({"$base": "base.json#/machine", "inner": {"depth": 1}})");
    const Root root =
        read(R"({"machine": {"$base": "middle.json", "inner": {"rate": 2}, "extra": null}})");
    EXPECT_EQ(root.machine->inner.rate, 2U);
    EXPECT_EQ(root.machine->inner.depth, 1U);
    EXPECT_FALSE(root.machine->extra);
}

TEST_F(ParamsBase, AWholeFileMayHaveABase) {
    write("whole.json", R"({"machine": "base.json#/machine"})");
    const Root root = read(R"({"$base": "whole.json", "machine": {"inner": {"rate": 5}}})");
    EXPECT_EQ(root.machine->inner.rate, 5U);
    EXPECT_EQ(root.machine->inner.depth, 8U);
    EXPECT_EQ(root.machine->name, "base");
}

TEST_F(ParamsBase, AChoiceKeepsItsTypeUnlessAnotherIsNamed) {
    const std::string base = R"({"engine": {"type": "turbine", "blades": 3, "speed": 8}})";
    write("engine.json", base);
    const auto engine = [&](const std::string& text) {
        return read_params<Vehicle>(Json::parse(text), folder() / "root.json").engine;
    };
    const auto kept = engine(R"({"$base": "engine.json", "engine": {"blades": 7}})");
    EXPECT_EQ(std::get<Turbine>(kept).blades, 7U);
    EXPECT_EQ(std::get<Turbine>(kept).speed, 8U);
    const auto same =
        engine(R"({"$base": "engine.json", "engine": {"type": "turbine", "speed": 1}})");
    EXPECT_EQ(std::get<Turbine>(same).blades, 3U);
    const auto other =
        engine(R"({"$base": "engine.json", "engine": {"type": "piston", "strokes": 2}})");
    EXPECT_EQ(std::get<Piston>(other).strokes, 2U);
    EXPECT_THROW(
        (void)engine(R"({"$base": "engine.json", "engine": {"type": "piston"}})"), ConfigError);
    EXPECT_THROW(
        (void)engine(R"({"$base": "engine.json", "engine": {"strokes": 2}})"), ConfigError);
}

TEST_F(ParamsBase, OverridesReachWhatTheBaseHolds) {
    const Root root = read(
        R"({"machine": {"$base": "base.json#/machine"}})", {{"/machine/inner/rate", Json(42)}});
    EXPECT_EQ(root.machine->inner.rate, 42U);
    EXPECT_EQ(root.machine->inner.depth, 8U);
}

TEST_F(ParamsBase, MistakesAreToldWhereTheyStand) {
    EXPECT_NE(
        problem(R"({"machine": {"$base": "base.json#/machine", "inner": {"rat": 9}}})")
            .find("root.json: /machine/inner/rat: unknown key"),
        std::string::npos);
    EXPECT_NE(
        problem(R"({"machine": {"$base": "base.json#/engine"}})").find("/machine/$base: names"),
        std::string::npos);
    EXPECT_NE(
        problem(R"({"machine": {"$base": 3}})").find("/machine/$base: is 3"), std::string::npos);
    write("wrong.json", R"({"name": "x", "inner": {"rate": 101}})");
    EXPECT_NE(
        problem(R"({"machine": {"$base": "wrong.json"}})").find("wrong.json: /inner/rate"),
        std::string::npos);
    write("circle.json", R"({"$base": "circle.json"})");
    EXPECT_NE(
        problem(R"({"machine": {"$base": "circle.json"}})")
            .find("forms a cycle or is nested too deep"),
        std::string::npos);
}

}  // namespace
}  // namespace switchfold::params_base_test
