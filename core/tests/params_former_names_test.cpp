// SPDX-License-Identifier: Apache-2.0
#include "core/params_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchfold::params_former_names_test {
namespace {

struct Room {
    std::uint32_t area = 0;
    static constexpr auto fields() {
        return list_of(field("area", &Room::area, "Area.", 1U, 9U).required().was("size"));
    }
};
struct House {
    Room room;
    static constexpr auto fields() {
        return list_of(field("room", &House::room, "Its room.").required());
    }
};

struct Read {
    House house;
    std::vector<std::string> notes;
    std::string problem;
};
Read read(const Json& json, std::vector<Override> overrides = {}) {
    Read out;
    try {
        out.house = read_params<House>(json, "/home/house.json", overrides, &out.notes);
    } catch (const ConfigError& error) {
        out.problem = error.what();
    }
    return out;
}

TEST(FormerNames, AreReadWithANote) {
    const Read present = read({{"room", {{"area", 4}}}});
    EXPECT_EQ(present.house.room.area, 4U);
    EXPECT_TRUE(present.notes.empty());
    const Read former = read({{"room", {{"size", 4}}}});
    EXPECT_EQ(former.house.room.area, 4U) << former.problem;
    EXPECT_EQ(
        former.notes,
        std::vector<std::string>{
            "house.json: /room/size is called area now; the former name is read for one release"});
}

TEST(FormerNames, AreCheckedLikePresentOnes) {
    EXPECT_NE(read({{"room", {{"size", 10}}}}).problem.find("/room/size"), std::string::npos);
    EXPECT_NE(read({{"room", {{"sise", 4}}}}).problem.find("area"), std::string::npos);
}

TEST(FormerNames, DoNotStandBesidePresentOnes) {
    const Read both = read({{"room", {{"size", 4}, {"area", 4}}}});
    EXPECT_NE(
        both.problem.find("/room/size: is the former name of area, which is given too"),
        std::string::npos)
        << both.problem;
}

TEST(FormerNames, MayBeSet) {
    EXPECT_EQ(read({{"room", {{"size", 4}}}}, {{"/room/size", 5}}).house.room.area, 5U);
}

}  // namespace
}  // namespace switchfold::params_former_names_test
