// SPDX-License-Identifier: Apache-2.0
#include "validation/calibrate/penalised.h"

#include <gtest/gtest.h>

#include <cmath>

namespace switchfold::penalised_test {
namespace {

using namespace validation;  // NOLINT(google-build-using-namespace): what is tested

/// A message's time: a latency and bytes over a bandwidth, both multiplied by unknown factors.
double time_of(double bytes, double latency, double bandwidth) {
    return 10 * std::exp(latency) + bytes / (1000 * std::exp(bandwidth));
}

std::vector<double> sizes() {
    std::vector<double> all;
    for (double bytes = 100; bytes < 1e6; bytes *= 4)
        all.push_back(bytes);
    return all;
}

/// Residuals of measurements at these factors, each off by `scatter` upwards and downwards in turn.
EvaluateAll residuals_of(double latency, double bandwidth, double scatter, double jump = 0) {
    return [=](const std::vector<std::vector<double>>& settings) {
        std::vector<std::vector<double>> out;
        for (const std::vector<double>& setting : settings) {
            out.emplace_back();
            double sign = 1;
            for (const double bytes : sizes()) {
                const double measured = time_of(bytes, latency, bandwidth);
                out.back().push_back(
                    std::log(measured / time_of(bytes, setting[0], setting[1])) + sign * scatter +
                    (bytes == sizes()[2] ? jump : 0.0));
                sign = -sign;
            }
        }
        return out;
    };
}

std::vector<Unknown> unknowns() {
    return {{-1, 1, 0.3}, {-1, 1, 0.1}, {-1, 1, 0.2}};
}

TEST(Penalised, FindsWhatMadeTheData) {
    const PenalisedFit fit = fit_penalised(unknowns(), residuals_of(0.3, -0.15, 0));
    EXPECT_NEAR(fit.values[0], 0.3, 0.01);
    EXPECT_NEAR(fit.values[1], -0.15, 0.01);
    EXPECT_LT(fit.deviations[0], 0.03);
}

TEST(Penalised, LeavesWhatTheDataDoNotTell) {
    const PenalisedFit fit = fit_penalised(unknowns(), residuals_of(0.3, -0.15, 0.01));
    EXPECT_TRUE(fit.told[0]);
    EXPECT_TRUE(fit.told[1]);
    EXPECT_FALSE(fit.told[2]);  // no residual depends on it
    EXPECT_EQ(fit.values[2], 0);
    EXPECT_EQ(fit.deviations[2], 0.2);
}

TEST(Penalised, StaysWhereShippedValuesAreRight) {
    const PenalisedFit fit = fit_penalised(unknowns(), residuals_of(0, 0, 0.05));
    EXPECT_NEAR(fit.values[0], 0, 0.02);
    EXPECT_NEAR(fit.values[1], 0, 0.02);
}

TEST(Penalised, ScatterWidensWhatIsLeftUnknown) {
    const PenalisedFit quiet = fit_penalised(unknowns(), residuals_of(0.3, -0.15, 0));
    const PenalisedFit noisy = fit_penalised(unknowns(), residuals_of(0.3, -0.15, 0.2));
    EXPECT_GT(noisy.deviations[1], 1.5 * quiet.deviations[1]);
    EXPECT_GT(noisy.error, quiet.error);
}

TEST(Penalised, KeepsBounds) {
    std::vector<Unknown> narrow = unknowns();
    narrow[1].low = -0.05;
    const PenalisedFit fit = fit_penalised(narrow, residuals_of(0.3, -0.3, 0));
    EXPECT_GE(fit.values[1], -0.05);
    narrow[1].high = 0;  // nowhere to go upwards: the derivative is taken downwards
    EXPECT_NEAR(fit_penalised(narrow, residuals_of(0.3, -0.04, 0)).values[1], -0.04, 0.02);
}

TEST(Penalised, OneWrongRowDecidesLittle) {
    const PenalisedFit fit = fit_penalised(unknowns(), residuals_of(0.1, -0.1, 0.01, 1.5));
    EXPECT_NEAR(fit.values[1], -0.1, 0.05);
    EXPECT_NEAR(fit.values[0], 0.1, 0.15);
}

TEST(Penalised, NothingUnknown) {
    const EvaluateAll one_point = [](const auto& settings) {
        return std::vector<std::vector<double>>(settings.size(), {0.1});
    };
    EXPECT_TRUE(fit_penalised({}, one_point).values.empty());
}

}  // namespace
}  // namespace switchfold::penalised_test
