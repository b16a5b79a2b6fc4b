// SPDX-License-Identifier: Apache-2.0
#include "core/units.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

namespace switchfold::units_test {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

template <class Parse>
std::string refusal(Parse parse, std::string_view text) {
    try {
        static_cast<void>(parse(text));
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Units, EveryUnitIsReadExactly) {
    EXPECT_EQ(parse_time("1 ps"), picoseconds(1));
    EXPECT_EQ(parse_time("700 ns"), nanoseconds(700));
    EXPECT_EQ(parse_time("1.5 us"), nanoseconds(1500));
    EXPECT_EQ(parse_time("0.000001 us"), picoseconds(1));
    EXPECT_EQ(parse_time("2 ms"), microseconds(2000));
    EXPECT_EQ(parse_time("3 s"), microseconds(3'000'000));
    EXPECT_EQ(parse_bytes("7 B"), Bytes(7));
    EXPECT_EQ(parse_bytes("1 KiB"), kibibytes(1));
    EXPECT_EQ(parse_bytes("25 MiB"), mebibytes(25));
    EXPECT_EQ(parse_bytes("1.5 GiB"), mebibytes(1536));
    EXPECT_EQ(parse_bytes("1 TiB"), mebibytes(1024 * 1024));
    EXPECT_EQ(parse_bytes("1 kB"), Bytes(1'000));
    EXPECT_EQ(parse_bytes("1 MB"), Bytes(1'000'000));
    EXPECT_EQ(parse_bytes("1 GB"), Bytes(1'000'000'000));
    EXPECT_EQ(parse_bytes("1 TB"), Bytes(1'000'000'000'000));
    EXPECT_EQ(parse_bandwidth("9 B/s"), Bandwidth(9));
    EXPECT_EQ(parse_bandwidth("9 kB/s"), Bandwidth(9'000));
    EXPECT_EQ(parse_bandwidth("9 MB/s"), Bandwidth(9'000'000));
    EXPECT_EQ(parse_bandwidth("26.5625 GB/s"), Bandwidth(26'562'500'000));
    EXPECT_EQ(parse_bandwidth("3.35 TB/s"), gigabytes_per_second(3350));
    EXPECT_EQ(parse_bandwidth("1 KiB/s"), Bandwidth(1024));
    EXPECT_EQ(parse_bandwidth("1 MiB/s"), Bandwidth(1024 * 1024));
    EXPECT_EQ(parse_bandwidth("1 GiB/s"), Bandwidth(1024 * 1024 * 1024));
    EXPECT_EQ(parse_bandwidth("8 b/s"), Bandwidth(1));
    EXPECT_EQ(parse_bandwidth("8 kb/s"), Bandwidth(1'000));
    EXPECT_EQ(parse_bandwidth("8 Mb/s"), Bandwidth(1'000'000));
    EXPECT_EQ(parse_bandwidth("400 Gb/s"), gigabytes_per_second(50));
    EXPECT_EQ(parse_bandwidth("1.6 Tb/s"), gigabytes_per_second(200));
    EXPECT_EQ(parse_frequency("1 Hz"), Frequency(1));
    EXPECT_EQ(parse_frequency("1 kHz"), Frequency(1'000));
    EXPECT_EQ(parse_frequency("1410 MHz"), Frequency(1'410'000'000));
    EXPECT_EQ(parse_frequency("1.83 GHz"), Frequency(1'830'000'000));
}

TEST(Units, TheSpaceIsOptional) {
    EXPECT_EQ(parse_time("700ns"), nanoseconds(700));
    EXPECT_NE(refusal(parse_time, "700  ns"), "accepted");
}

TEST(Units, WhatIsNoQuantityIsRefusedWithAnExample) {
    EXPECT_EQ(refusal(parse_time, "700"), "\"700\" has no unit; write it like \"700 ns\"");
    EXPECT_EQ(
        refusal(parse_time, "-1 ns"),
        "\"-1 ns\" is negative; expected zero or more; write it like \"700 ns\"");
    EXPECT_EQ(
        refusal(parse_time, "5 min"),
        "\"5 min\" has the unknown unit \"min\"; expected one of: ps, ns, us, ms, s; write it like "
        "\"700 ns\"");
    EXPECT_EQ(
        refusal(parse_bytes, "0.5 B"),
        "\"0.5 B\" is not a multiple of 1 B; write it like \"25 MiB\"");
    EXPECT_EQ(
        refusal(parse_bandwidth, "1 b/s"),
        "\"1 b/s\" is not a multiple of 1 B/s; write it like \"450 GB/s\"");
    EXPECT_EQ(
        refusal(parse_frequency, "99999999999 GHz"),
        "\"99999999999 GHz\" is too large; write it like \"1.83 GHz\"");
    for (const std::string_view text :
         {"", " ", "ns", ".5 us", "5. us", "1e3 ns", "+5 ns", " 5 ns", "5 ns ", "0x10 ns", "1,5 us",
          "1.2.3 us", "5 NS"})
        EXPECT_NE(refusal(parse_time, text).find("700 ns"), std::string::npos) << text;
    EXPECT_NE(refusal(parse_bytes, "5 ns").find("KiB"), std::string::npos);
}

TEST(Units, TheLargestValueIsReadAndTheNextIsTooLarge) {
    EXPECT_EQ(parse_time("18446744073709551615 ps"), kTimeMax);
    EXPECT_NE(refusal(parse_time, "18446744073709551616 ps").find("too large"), std::string::npos);
    EXPECT_NE(refusal(parse_time, "18446744073709551615 s").find("too large"), std::string::npos);
    EXPECT_NE(
        refusal(parse_time, "111111111111111111111 ps").find("too many digits"), std::string::npos);
}

TEST(Units, TextIsShortAndKeepsTheFamiliarUnit) {
    EXPECT_EQ(to_string(Time(0)), "0 ps");
    EXPECT_EQ(to_string(nanoseconds(700)), "700 ns");
    EXPECT_EQ(to_string(nanoseconds(1500)), "1.5 us");
    EXPECT_EQ(to_string(mebibytes(25)), "25 MiB");
    EXPECT_EQ(to_string(Bytes(4'915'200)), "4800 KiB");
    EXPECT_EQ(to_string(Bytes(88'016)), "88016 B");
    EXPECT_EQ(to_string(Bandwidth(26'562'500'000)), "26.5625 GB/s");
    EXPECT_EQ(to_string(gigabytes_per_second(450)), "450 GB/s");
    EXPECT_EQ(to_string(Frequency(1'830'000'000)), "1.83 GHz");
    EXPECT_EQ(to_string(FlopRate(794'000'000'000'000)), "794 TFLOP/s");
    EXPECT_EQ(parse_flop_rate("794 TFLOP/s"), FlopRate(794'000'000'000'000));
    EXPECT_EQ(to_string(kTimeMax), "18446744.073709551615 s");
}

/// Numbers of every magnitude, including round ones, which are printed in larger units.
rc::Gen<std::uint64_t> counts() {
    return rc::gen::map(
        rc::gen::tuple(
            rc::gen::arbitrary<std::uint64_t>(), rc::gen::inRange(0, 64),
            rc::gen::element<std::uint64_t>(1, 1000, 1'000'000, 1024, 1048576, 1'000'000'000)),
        [](const auto& drawn) {
            const auto& [bits, shift, unit] = drawn;
            const std::uint64_t count = bits >> shift;
            return count > kMost / unit ? count : count * unit;
        });
}

RC_GTEST_PROP(UnitsProperty, TextReadsBackToTheSameValue, ()) {
    const std::uint64_t count = *counts();
    RC_ASSERT(parse_time(to_string(Time(count))).count() == count);
    RC_ASSERT(parse_bytes(to_string(Bytes(count))).count() == count);
    RC_ASSERT(parse_bandwidth(to_string(Bandwidth(count))).count() == count);
    RC_ASSERT(parse_frequency(to_string(Frequency(count))).count() == count);
}

RC_GTEST_PROP(UnitsProperty, TextIsNeverLongerThanTheBaseUnits, ()) {
    const std::uint64_t count = *counts();
    RC_ASSERT(to_string(Time(count)).size() <= std::to_string(count).size() + 3);
    RC_ASSERT(to_string(Bytes(count)).size() <= std::to_string(count).size() + 2);
}

RC_GTEST_PROP(UnitsProperty, JunkNeverCrashesAndNeverPassesSilently, ()) {
    const auto text = *rc::gen::container<std::string>(
        rc::gen::elementOf(std::string("0123456789.-+ eKMGTikmgbBs/Hznpu")));
    const std::string said = refusal(parse_bandwidth, text);
    RC_ASSERT(said == "accepted" || said.find("write it like \"450 GB/s\"") != std::string::npos);
}

TEST(Quantity, OverflowAndUnderflowThrow) {
    Time t = kTimeMax;
    EXPECT_THROW(t += Time(1), std::overflow_error);
    EXPECT_EQ(t, kTimeMax);
    Time zero;
    EXPECT_THROW(zero -= Time(1), std::underflow_error);
    EXPECT_THROW(static_cast<void>(Bytes(kMost) * 2), std::overflow_error);
    EXPECT_EQ(Bytes(kMost) * 1, Bytes(kMost));
}

TEST(Quantity, SerializationTimeRoundsUpAndNeverLosesBytes) {
    EXPECT_EQ(serialization_time(Bytes(25), gigabytes_per_second(25)), nanoseconds(1));
    EXPECT_EQ(serialization_time(Bytes(1), Bandwidth(3'000'000'000'000)), picoseconds(1));
    EXPECT_EQ(serialization_time(Bytes(0), Bandwidth(1)), Time(0));
    EXPECT_THROW(static_cast<void>(serialization_time(Bytes(1), Bandwidth(0))), std::domain_error);
    EXPECT_THROW(
        static_cast<void>(serialization_time(Bytes(kMost), Bandwidth(1))), std::overflow_error);
}

RC_GTEST_PROP(QuantityProperty, SerializationTimeIsTheLeastThatSuffices, ()) {
    const auto bytes = *rc::gen::inRange<std::uint64_t>(1, 1ULL << 40U);
    const auto rate = *rc::gen::inRange<std::uint64_t>(1'000'000, 10'000'000'000'000ULL);
    const std::uint64_t ps = serialization_time(Bytes(bytes), Bandwidth(rate)).count();
    const auto carried = [&](std::uint64_t t) { return static_cast<unsigned __int128>(t) * rate; };
    const auto wanted = static_cast<unsigned __int128>(bytes) * 1'000'000'000'000U;
    RC_ASSERT(carried(ps) >= wanted);
    RC_ASSERT(carried(ps - 1) < wanted);
}

}  // namespace
}  // namespace switchfold::units_test
