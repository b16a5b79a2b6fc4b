// SPDX-License-Identifier: Apache-2.0
#include "sim/pool/outcome_codec.h"

#include "core/error.h"
#include "models/collectives/engine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace switchfold::outcome_codec_test {
namespace {

Outcome any_outcome() {
    Outcome outcome;
    const auto count = [] { return *rc::gen::inRange<std::size_t>(0, 4); };
    const auto number = [] { return *rc::gen::arbitrary<std::uint64_t>(); };
    const auto text = [] { return *rc::gen::arbitrary<std::string>(); };
    for (std::size_t rank = count(); rank > 0; --rank) {
        std::vector<OperationTimes> times(count());
        for (OperationTimes& t : times)
            t = {Time(number()), Time(number())};
        outcome.times.push_back(std::move(times));
    }
    for (std::size_t i = count(); i > 0; --i) {
        CollectiveRecord record;
        record.group = static_cast<std::uint32_t>(i);
        record.bytes = Bytes(number());
        record.end = Time(number());
        outcome.collectives.push_back(record);
    }
    for (std::size_t i = count(); i > 0; --i)
        outcome.statistics.push_back(
            {text(), text(), {{text(), Unit::kShare, text()}}, {{text(), {0.25}}, {text(), {}}}});
    for (std::size_t i = count(); i > 0; --i)
        outcome.counters.push_back({text(), 1.5, -2.5});
    outcome.loads = {7, {{}, {1, 2, 1000}}};
    for (std::size_t i = count(); i > 0; --i)
        outcome.notes.push_back(text());
    outcome.end_ps = number();
    outcome.coarse_bytes = static_cast<double>(number());
    outcome.events = number();
    return outcome;
}

RC_GTEST_PROP(OutcomeCodec, ReadsBackWhatWasWritten, ()) {
    const Outcome outcome = any_outcome();
    const Outcome back = decode(encode(outcome));
    RC_ASSERT(back.times.size() == outcome.times.size());
    for (std::size_t r = 0; r < outcome.times.size(); ++r) {
        RC_ASSERT(back.times[r].size() == outcome.times[r].size());
        for (std::size_t i = 0; i < outcome.times[r].size(); ++i) {
            RC_ASSERT(back.times[r][i].start == outcome.times[r][i].start);
            RC_ASSERT(back.times[r][i].end == outcome.times[r][i].end);
        }
    }
    RC_ASSERT(back.collectives.size() == outcome.collectives.size());
    for (std::size_t i = 0; i < outcome.collectives.size(); ++i) {
        RC_ASSERT(back.collectives[i].group == outcome.collectives[i].group);
        RC_ASSERT(back.collectives[i].bytes == outcome.collectives[i].bytes);
        RC_ASSERT(back.collectives[i].end == outcome.collectives[i].end);
    }
    RC_ASSERT(back.statistics == outcome.statistics);
    RC_ASSERT(back.loads.bin_ps == outcome.loads.bin_ps);
    RC_ASSERT(back.loads.thousandths == outcome.loads.thousandths);
    RC_ASSERT(back.counters.size() == outcome.counters.size());
    for (std::size_t i = 0; i < outcome.counters.size(); ++i) {
        RC_ASSERT(back.counters[i].track == outcome.counters[i].track);
        RC_ASSERT(back.counters[i].time_us == outcome.counters[i].time_us);
        RC_ASSERT(back.counters[i].value == outcome.counters[i].value);
    }
    RC_ASSERT(back.notes == outcome.notes);
    RC_ASSERT(back.end_ps == outcome.end_ps);
    RC_ASSERT(back.coarse_bytes == outcome.coarse_bytes);
    RC_ASSERT(back.events == outcome.events);
}

RC_GTEST_PROP(OutcomeCodec, RefusesAnythingCutOff, ()) {
    const std::string whole = encode(any_outcome());
    const auto length = *rc::gen::inRange<std::size_t>(0, whole.size());
    RC_ASSERT_THROWS_AS(decode(whole.substr(0, length)), InternalError);
}

RC_GTEST_PROP(OutcomeCodec, RefusesWhatIsLeftOver, ()) {
    std::string bytes = encode(any_outcome());
    bytes.push_back('\0');
    RC_ASSERT_THROWS_AS(decode(bytes), InternalError);
}

/// Lengths that no memory could hold must be rejected before allocation.
TEST(OutcomeCodec, RefusesLengthsBeyondItsBytes) {
    const std::string bytes(64, '\xff');
    EXPECT_THROW(static_cast<void>(decode(bytes)), InternalError);
}

}  // namespace
}  // namespace switchfold::outcome_codec_test
