// SPDX-License-Identifier: Apache-2.0
#include "sim/output/packed_text.h"

#include <gtest/gtest.h>

namespace switchfold::packed_text_test {
namespace {

// What browsers make of it, report_in_a_browser sees.
TEST(PackedText, IsGzipInBase64AndTheSameEachTime) {
    const std::string text = packed("{\"map\":null}");
    EXPECT_EQ(text.substr(0, 11), "H4sIAAAAAAA") << "the head of gzip, without a time";
    EXPECT_EQ(text.size() % 4, 0U);
    EXPECT_EQ(text, packed("{\"map\":null}"));
}

TEST(PackedText, WhatRepeatsItselfIsSmall) {
    EXPECT_LT(packed(std::string(100'000, 'x')).size(), 400U);
    for (const std::size_t n : {0U, 1U, 2U, 3U})
        EXPECT_EQ(packed(std::string(n, 'y')).size() % 4, 0U);
}

}  // namespace
}  // namespace switchfold::packed_text_test
