// SPDX-License-Identifier: Apache-2.0
#include "sim/intervals/likeness.h"

#include <gtest/gtest.h>

#include <cmath>

namespace switchfold::intervals::likeness_test {
namespace {

Likeness ring() {
    Likeness l;
    l.kind = "collective";
    l.operation = "all_reduce";
    l.algorithm = "ring";
    l.generation = "Hopper";
    l.fabric = "switched";
    l.bytes = 65536;
    l.ranks = 8;
    return l;
}

TEST(Likeness, GenerationsOfShippedNames) {
    EXPECT_EQ(generation_of("NVIDIA H100 SXM5 80 GB"), "Hopper");
    EXPECT_EQ(generation_of("NVIDIA H20 96 GB"), "Hopper");
    EXPECT_EQ(generation_of("NVIDIA GH200 96 GB"), "Hopper");
    EXPECT_EQ(generation_of("NVIDIA GB200"), "Blackwell");
    EXPECT_EQ(generation_of("NVIDIA A100 SXM4 80 GB"), "Ampere");
    EXPECT_EQ(generation_of("NVIDIA A10G"), "Ampere");
    EXPECT_EQ(generation_of("NVIDIA RTX A6000"), "Ampere");
    EXPECT_EQ(generation_of("NVIDIA RTX 6000 Ada Generation"), "Ada");
    EXPECT_EQ(generation_of("NVIDIA RTX PRO 6000 Blackwell Server Edition"), "Blackwell");
    EXPECT_EQ(generation_of("NVIDIA L40S"), "Ada");
    EXPECT_EQ(generation_of("AMD Instinct MI325X"), "CDNA 3");
    EXPECT_EQ(generation_of("AMD Instinct MI355X"), "CDNA 4");
    EXPECT_EQ(generation_of("something of 2031"), "");
}

TEST(Likeness, DistanceAddsUpWhatDiffers) {
    EXPECT_EQ(distance(ring(), ring()), 0);
    Likeness other = ring();
    other.kind = "kernel";
    EXPECT_TRUE(std::isinf(distance(ring(), other)));
    other = ring();
    other.bytes *= 16;
    EXPECT_DOUBLE_EQ(distance(ring(), other), 1);
    other.algorithm = "tree";
    EXPECT_DOUBLE_EQ(distance(ring(), other), 2);
    EXPECT_DOUBLE_EQ(distance(other, ring()), 2);
    other.generation = "Blackwell";
    EXPECT_DOUBLE_EQ(distance(ring(), other), 2.5);
    other.generation = "CDNA 3";
    EXPECT_DOUBLE_EQ(distance(ring(), other), 4);
    other.fabric = "pcie";
    EXPECT_DOUBLE_EQ(distance(ring(), other), 6);
    other.fabric = "";  // unknown
    EXPECT_DOUBLE_EQ(distance(ring(), other), 5);
}

TEST(Likeness, SeveralMachinesDifferFromOne) {
    Likeness two = ring();
    two.machines = 2;
    Likeness four = ring();
    four.machines = 4;
    EXPECT_DOUBLE_EQ(distance(two, four), 0.25);
    EXPECT_DOUBLE_EQ(distance(ring(), two), 2.25);
}

TEST(Likeness, SaysWhatItIs) {
    EXPECT_EQ(to_text(ring()), "all_reduce by ring, 64 KiB, 8 ranks of Hopper");
}

}  // namespace
}  // namespace switchfold::intervals::likeness_test
