// SPDX-License-Identifier: Apache-2.0
#include "interconnect/congestion/dcqcn.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace switchfold {
namespace {

constexpr double kLine = 50e9;
const Bandwidth kFifty(50'000'000'000);

DcqcnParams paper() {
    DcqcnParams params;
    params.mark_from = kibibytes(5);
    params.mark_all_from = kibibytes(200);
    return params;
}

TEST(Dcqcn, ANotificationHalvesTheFirstRateAndRecoveriesGoHalfOfTheWayBack) {
    const DcqcnParams params = paper();
    DcqcnRate rate(params, kFifty);
    EXPECT_EQ(rate.rate(Time()), kLine);
    rate.notified(Time());
    EXPECT_NEAR(rate.rate(Time()), kLine / 2, 1);  // the estimate begins at 1
    for (std::uint32_t rises = 1; rises <= 4; ++rises)
        EXPECT_NEAR(rate.rate(params.rate_timer * rises), kLine * (1 - std::pow(0.5, rises + 1)), 1)
            << rises;
}

TEST(Dcqcn, TheEstimateOfCongestionFallsByTheGainATimer) {
    const DcqcnParams params = paper();
    DcqcnRate rate(params, kFifty);
    rate.notified(Time());
    EXPECT_NEAR(rate.congestion(Time()), 1, 1e-12);
    EXPECT_NEAR(rate.congestion(params.gain_timer * 100), std::pow(1 - params.gain, 100), 1e-9);
}

TEST(Dcqcn, AfterItsRecoveriesTheRateRisesBeyondTheLastOne) {
    DcqcnParams params = paper();
    params.rate_bytes = mebibytes(1024);  // the timer alone
    DcqcnRate rate(params, kFifty);
    // Two notifications in a row: the second one's target is the first one's rate.
    rate.notified(Time());
    rate.notified(Time());
    const double target = kLine / 2;
    const double low = rate.rate(Time());
    EXPECT_NEAR(low, target / 2, 1);
    double expected = low;
    double goal = target;
    for (std::uint32_t rises = 1; rises <= 20; ++rises) {
        if (rises >= params.recoveries)
            goal += static_cast<double>(params.additive.count());
        expected = (expected + goal) / 2;
        EXPECT_NEAR(rate.rate(params.rate_timer * rises), expected, 1) << rises;
    }
}

TEST(Dcqcn, BytesRaiseTheRateAsTheTimerDoes) {
    const DcqcnParams params = paper();
    DcqcnRate by_bytes(params, kFifty);
    by_bytes.notified(Time());
    by_bytes.sent(3 * params.rate_bytes.count(), Time());
    DcqcnRate by_timer(params, kFifty);
    by_timer.notified(Time());
    EXPECT_NEAR(by_bytes.rate(Time()), by_timer.rate(params.rate_timer * 3), 1);
}

RC_GTEST_PROP(DcqcnProperty, TheRateStaysBetweenTheLeastAndTheLinesAndComesBack, ()) {
    DcqcnParams params = paper();
    params.least = Bandwidth(*rc::gen::inRange(1, 100) * 1'000'000ULL);
    DcqcnRate rate(params, kFifty);
    Time now;
    const int steps = *rc::gen::inRange(1, 200);
    for (int i = 0; i < steps; ++i) {
        now += microseconds(*rc::gen::inRange(0U, 200U));
        if (*rc::gen::arbitrary<bool>())
            rate.notified(now);
        else
            rate.sent(*rc::gen::inRange(0U, 20'000'000U), now);
        RC_ASSERT(rate.rate(now) >= static_cast<double>(params.least.count()) * 0.999);
        RC_ASSERT(rate.rate(now) <= kLine);
        RC_ASSERT(rate.congestion(now) <= 1 && rate.congestion(now) >= 0);
    }
    RC_ASSERT(rate.at_line_rate(now + microseconds(2'000'000)));
}

}  // namespace
}  // namespace switchfold
