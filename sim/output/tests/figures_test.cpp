// SPDX-License-Identifier: Apache-2.0
#include "sim/output/figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

namespace switchfold::figures_test {
namespace {

TEST(FiguresTable, EveryFigureHasAKeyOfItsOwnAndAPlaceOfItsOwn) {
    std::set<std::string_view> keys;
    std::set<unsigned> places;
    std::set<unsigned> run_places;
    for (const Figure& figure : kFigures) {
        EXPECT_TRUE(figure.run_place == 0 || run_places.insert(figure.run_place).second)
            << figure.key;
        EXPECT_EQ(figure.run_place == 0, figure.run_of == RunOf::kNone) << figure.key;
        EXPECT_TRUE(keys.insert(figure.key).second) << figure.key;
        EXPECT_TRUE(figure.table_place == 0 || places.insert(figure.table_place).second)
            << figure.key;
        EXPECT_TRUE(
            figure.unit == Unit::kMicroseconds || figure.unit == Unit::kShare ||
            figure.unit == Unit::kFactor || figure.unit == Unit::kCount ||
            figure.unit == Unit::kBytes);
        EXPECT_TRUE(
            figure.shown_by.empty() ||
            std::any_of(std::begin(kFigures), std::end(kFigures), [&](const Figure& f) {
                return f.key == figure.shown_by;
            }));
    }
}

}  // namespace
}  // namespace switchfold::figures_test
