// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/modules.h"

#include "core/kernel/simulation.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <vector>

namespace switchfold::modules_test {
namespace {

std::vector<int> gone;

struct Plain final : sc_core::sc_module {
    Plain(const sc_core::sc_module_name& name, int number) : sc_module(name), number_(number) {}
    ~Plain() override { gone.push_back(number_); }
    Plain(const Plain&) = delete;
    Plain& operator=(const Plain&) = delete;
    Plain(Plain&&) = delete;
    Plain& operator=(Plain&&) = delete;

private:
    int number_;
};

TEST(Modules, GoFromTheLastToTheFirst) {
    Simulation simulation;
    gone.clear();
    {
        Modules<Plain> modules;
        for (int i = 0; i < 3; ++i)
            modules.add(("plain" + std::to_string(i)).c_str(), i);
        EXPECT_EQ(modules.size(), 3U);
    }
    EXPECT_EQ(gone, (std::vector<int>{2, 1, 0}));
}

/// In another order four times as many take sixteen times as long: 150,000 take 4 s.
TEST(Modules, AreFoundAtOnceAfterARun) {
    Simulation simulation;
    std::clock_t start = 0;  // processor time: other work on the machine does not count
    {
        Modules<Plain> modules;
        for (int i = 0; i < 150'000; ++i)
            modules.add(("plain" + std::to_string(i)).c_str(), i);
        simulation.run();
        start = std::clock();
    }
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 1.5);
}

}  // namespace
}  // namespace switchfold::modules_test
