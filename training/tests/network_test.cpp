// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "training/network/builder.h"
#include "training/network/product.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace switchfold::network_test {
namespace {

/// Two branches that are joined: conv -> (relu, pool) -> concat.
Network branches() {
    NetworkBuilder net("branches");
    const Tensor image{{3, 8, 8}};
    const Tensor x = net.conv("conv", image, 4, Window::same(3, 3));
    const Tensor left = net.each("relu", "relu", x);
    const Tensor right = net.pool("pool", "maxpool", x, Window::square(1));
    net.concat("concat", {left, right});
    return net.take();
}

TEST(Network, WhatCrossesACutCountsOnce) {
    const Network network = branches();
    EXPECT_EQ(parameters(network), 4U * (27 + 1));
    EXPECT_EQ(forward_macs(network), 4U * 64 * 27);
    // Two layers read conv's output. After relu, both conv's and relu's output cross the cut.
    EXPECT_EQ(crossing_elements(network, 0), 256U);
    EXPECT_EQ(crossing_elements(network, 1), 512U);
    EXPECT_EQ(crossing_elements(network, 2), 512U);
    EXPECT_EQ(crossing_elements(network, 3), 0U);
    EXPECT_EQ(crossing_elements(network), (std::vector<std::uint64_t>{256, 512, 512, 0}));
}

TEST(Network, NamesWhatContradictsItself) {
    const auto refused = [](auto&& change) {
        Network network = branches();
        change(network.layers);
        std::string all;
        for (std::size_t i = 0; i < network.layers.size(); ++i)
            for (const std::string& problem : problems_of(network, i))
                all += problem + "\n";
        EXPECT_THROW(check(network), InternalError);
        return all;
    };
    using Layers = std::vector<Layer>;
    EXPECT_EQ(
        refused([](Layers& l) { l[1].inputs = {2}; }),
        "relu reads layer 2, which does not come before it\n");
    EXPECT_EQ(
        refused([](Layers& l) { l[3].in_elements = 511; }),
        "concat reads 511 elements, and its inputs have 512\n");
    EXPECT_EQ(
        refused([](Layers& l) {
            l[3].out_shape = {8, 8, 7};
        }),
        "concat has 512 elements, and its shape 448\n");
    EXPECT_EQ(
        refused([](Layers& l) { l[1].shares = 1; }),
        "relu shares weights of layer 1, which does not come before it\n");
    EXPECT_EQ(
        refused([](Layers& l) { l[2].shares = 1; }),
        "pool shares weights of relu, which has none\n");
    EXPECT_EQ(refused([](Layers& l) { l[0].groups = 0; }), "conv has no group\n");
    EXPECT_EQ(refused([](Layers& l) { l[2].name = "relu"; }), "");
    EXPECT_EQ(refused([](Layers& l) { l.clear(); }), "");
}

RC_GTEST_PROP(Network, CrossingIsTheSameInOnePass, ()) {
    Network network;
    const auto layers = *rc::gen::inRange<std::uint32_t>(1, 30);
    for (std::uint32_t i = 0; i < layers; ++i) {
        Layer layer{"l", "add"};
        layer.out_elements = *rc::gen::inRange<std::uint64_t>(1, 100);
        if (i > 0)
            layer.inputs = *rc::gen::container<std::vector<std::uint32_t>>(
                rc::gen::inRange<std::uint32_t>(0, i));
        network.layers.push_back(layer);
    }
    const auto all = crossing_elements(network);
    for (std::size_t i = 0; i < layers; ++i)
        RC_ASSERT(all[i] == crossing_elements(network, i));
}

TEST(Product, IsOfTheShape) {
    NetworkBuilder net("n");
    Tensor image = net.conv("conv", {{3, 224, 224}}, 64, Window::square(7, 2, 3), false);
    image = net.conv("grouped", image, 128, Window::same(3, 3), true, 32);
    const Tensor words = net.embedding("words", {{50}}, 1000, 256);
    const Tensor x = net.lstm("lstm", {words}, 512);
    net.linear("linear", x, 100);
    net.linear("vector", image, 10);
    const Network network = net.take();
    const auto product = [&](std::size_t i) { return product_of(network.layers[i]).value(); };
    EXPECT_EQ(product(0), (MatrixShape{112 * 112, 64, 3 * 49}));
    EXPECT_EQ(product(1), (MatrixShape{112 * 112, 4, 2 * 9, 32}));
    EXPECT_EQ(network.layers[1].parameters, 128U * (2 * 9 + 1));
    EXPECT_FALSE(product_of(network.layers[2]));
    EXPECT_EQ(product(3), (MatrixShape{1, 4 * 512, 256 + 512, 50})) << "a step after another";
    EXPECT_EQ(product(4), (MatrixShape{50, 100, 512}));
    EXPECT_EQ(product(5), (MatrixShape{1, 10, 128 * 112 * 112}));
}

TEST(Product, IsEmptyWhereTheNumbersLeaveItOpen) {
    Layer layer{"head", "linear", 0, 1000, 10};
    EXPECT_FALSE(product_of(layer)) << "shared weights and no shape";
    layer.parameters = 1010;
    EXPECT_EQ(product_of(layer), (MatrixShape{1, 10, 100})) << "with a bias";
    EXPECT_TRUE(has_bias(layer));
    layer.parameters = 1000;
    EXPECT_FALSE(has_bias(layer));
    layer.parameters = 1010;
    layer.macs = 1001;
    EXPECT_FALSE(product_of(layer));
    layer.macs = 0;
    EXPECT_FALSE(product_of(layer));
}

TEST(Builder, RefusesAWindowThatDoesNotFit) {
    NetworkBuilder net("n");
    EXPECT_THROW(net.conv("c", {{3, 2, 2}}, 4, Window::square(3)), InternalError);
    EXPECT_THROW(net.conv("c", {{3, 2}}, 4, Window::square(1)), InternalError);
}

}  // namespace
}  // namespace switchfold::network_test
