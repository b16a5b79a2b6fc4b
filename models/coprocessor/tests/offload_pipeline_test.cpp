// SPDX-License-Identifier: Apache-2.0
#include "models/coprocessor/offload_pipeline.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace switchfold::offload_pipeline_test {
namespace {

Time end_of(const std::vector<OffloadChunk>& chunks, const OffloadOptions& options) {
    return run_offload(chunks, options).back().out_end;
}

TEST(OffloadPipeline, LongComputeHidesTransfersButTheFirst) {
    const std::vector<OffloadChunk> chunks(10, {microseconds(3), microseconds(10), Time()});
    EXPECT_EQ(end_of(chunks, {2, true}), microseconds(3 + 10 * 10));
    EXPECT_EQ(end_of(chunks, {2, false}), microseconds(10 * 13));
}

TEST(OffloadPipeline, LongTransfersHideCompute) {
    const std::vector<OffloadChunk> chunks(10, {microseconds(10), microseconds(3), Time()});
    EXPECT_EQ(end_of(chunks, {2, true}), microseconds(10 * 10 + 3));
}

TEST(OffloadPipeline, BothDirectionsHideBesideCompute) {
    const std::vector<OffloadChunk> chunks(
        10, {microseconds(4), microseconds(10), microseconds(5)});
    EXPECT_EQ(end_of(chunks, {2, true}), microseconds(4 + 10 * 10 + 5));
}

TEST(OffloadPipeline, AChunkWaitsForABuffer) {
    // With two buffers, the third chunk's transfer starts when the first chunk has left: two chunks
    // in 4 + 10 + 8 us.
    const std::vector<OffloadChunk> chunks(
        10, {microseconds(4), microseconds(10), microseconds(8)});
    EXPECT_EQ(end_of(chunks, {2, true}), microseconds(14 + 4 * 22 + 10 + 8));
    EXPECT_EQ(end_of(chunks, {3, true}), microseconds(4 + 10 * 10 + 8));
}

TEST(OffloadPipeline, OneBufferHidesNothing) {
    const std::vector<OffloadChunk> chunks(7, {microseconds(4), microseconds(10), microseconds(5)});
    EXPECT_EQ(end_of(chunks, {1, true}), end_of(chunks, {2, false}));
}

TEST(OffloadPipeline, NoBufferIsRefused) {
    EXPECT_THROW(static_cast<void>(run_offload({{}}, {0, true})), std::invalid_argument);
}

RC_GTEST_PROP(OffloadPipeline, MoreBuffersAreNeverSlower, ()) {
    std::vector<OffloadChunk> chunks;
    Time compute;
    Time all;
    for (int i = *rc::gen::inRange(1, 20); i > 0; --i) {
        const auto part = [] { return microseconds(*rc::gen::inRange(0U, 30U)); };
        chunks.push_back({part(), part(), part()});
        compute += chunks.back().compute;
        all += chunks.back().in + chunks.back().compute + chunks.back().out;
    }
    const auto buffers = *rc::gen::inRange(1U, 5U);
    const Time less = end_of(chunks, {buffers, true});
    RC_ASSERT(end_of(chunks, {buffers + 1, true}) <= less);
    RC_ASSERT(less <= all);
    RC_ASSERT(less >= compute);
    RC_ASSERT(end_of(chunks, {buffers, false}) == all);
}

}  // namespace
}  // namespace switchfold::offload_pipeline_test
