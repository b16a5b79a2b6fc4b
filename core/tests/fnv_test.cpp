// SPDX-License-Identifier: Apache-2.0
#include "core/fnv.h"

#include <gtest/gtest.h>

namespace switchfold::fnv_test {
namespace {

/// Test vectors of FNV's authors (draft-eastlake-fnv, appendix C).
TEST(Fnv, PublishedValues) {
    EXPECT_EQ(Fnv().value(), 0xcbf29ce484222325ULL);
    EXPECT_EQ(Fnv().add("a").value(), 0xaf63dc4c8601ec8cULL);
    EXPECT_EQ(Fnv().add("foobar").value(), 0x85944171f73967e8ULL);
}

TEST(Fnv, PiecesGiveTheSameAsTheWhole) {
    EXPECT_EQ(Fnv().add("foo").add("bar").value(), Fnv().add("foobar").value());
}

}  // namespace
}  // namespace switchfold::fnv_test
