// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "training/network/profile.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace switchfold::network_profile_test {
namespace {

std::string node(const std::string& name, const std::string& op, const std::string& activations) {
    return name + " -- " + op + " -- forward_compute_time=1.5, backward_compute_time=2.250, " +
           "activation_size=" + activations + ", parameter_size=1024.000\n";
}

TEST(ProfileGraph, IsANetworkWithMeasuredTimes) {
    const std::string text = node("node1", "Input0", "256.0") +
                             node("node3", "LSTM(8, 4)", "[64.0; 32.0]") +
                             node("node2", "Embedding(32, 8)", "512.0") +
                             "\tnode1 -- node2\n\tnode1 -- node3\n\tnode2 -- node3\n";
    const Network network = parse_profile_graph(text, "folder/small.graph.txt", 4);
    check(network);
    EXPECT_EQ(network.name, "small");
    ASSERT_EQ(network.layers.size(), 2U);
    EXPECT_EQ(network.layers[0].name, "node2");
    EXPECT_EQ(network.layers[0].type, "embedding");
    EXPECT_EQ(network.layers[0].in_elements, 16U);
    EXPECT_EQ(network.layers[0].out_elements, 32U) << "512 B of four samples";
    EXPECT_EQ(network.layers[0].parameters, 256U);
    EXPECT_EQ(network.layers[0].forward_us, 375.0);
    EXPECT_EQ(network.layers[0].backward_us, 562.5);
    EXPECT_EQ(network.layers[1].type, "lstm");
    EXPECT_EQ(network.layers[1].out_elements, 6U) << "all of its outputs";
    EXPECT_EQ(network.layers[1].inputs, std::vector<std::uint32_t>{0});
    EXPECT_EQ(network.layers[1].in_elements, 48U);
}

std::string refused(const std::string& text) {
    try {
        static_cast<void>(parse_profile_graph(text, "p", 4));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(ProfileGraph, NamesEveryProblem) {
    const std::string first = node("node1", "ReLU(inplace)", "4.0");
    EXPECT_EQ(refused(""), "p: /: has no node; expected one a line");
    EXPECT_EQ(
        refused("nod1 -- ReLU -- x\nnode1 -- ReLU\n" + first + first),
        "p: /: line 1: is not a node; expected \"nodeN -- OPERATOR -- forward_compute_time=...\"\n"
        "p: /: line 2: is not a node; expected \"nodeN -- OPERATOR -- forward_compute_time=...\"\n"
        "p: /: line 4: node1 exists already; expected one line a node");
    EXPECT_EQ(
        refused(first + "\tnode1 -- node2\n\tnode1\n"),
        "p: /: line 2: is not an edge between nodes of this file; expected \"nodeN -- nodeM\"\n"
        "p: /: line 3: is not an edge between nodes of this file; expected \"nodeN -- nodeM\"");
    EXPECT_EQ(
        refused("node1 -- ReLU -- forward_compute_time=-1, backward_compute_time=nan, "
                "activation_size=[4.0;\n"),
        "p: /: line 1: forward_compute_time is \"-1\"; expected a number\n"
        "p: /: line 1: backward_compute_time is \"nan\"; expected a number\n"
        "p: /: line 1: activation_size is \"[4.0;\"; expected a number\n"
        "p: /: line 1: parameter_size is \"\"; expected a number");
    EXPECT_EQ(
        refused(first + node("node2", "Add", "4.0") + "\tnode1 -- node2\n\tnode2 -- node1\n"),
        "p: /: has a cycle of edges; expected none");
    EXPECT_EQ(refused(node("node1", "Input", "4.0")), "p: /: has only inputs; expected a layer");
}

/// Sums of the published profiles, in ms per batch.
TEST(ProfileGraph, ReadsPipeDreamsProfiles) {
    const auto folder = std::filesystem::path(SWITCHFOLD_SOURCE_DIR) /
                        "../shared/reference/training/profiles/pipedream";
    if (!std::filesystem::exists(folder))
        GTEST_SKIP() << "no " << folder << ": profiles of others are not part of the repository";
    struct Profile {
        const char* name;
        std::uint32_t batch;
        double forward;
        double backward;
        std::uint64_t parameters;
    };
    for (const Profile& p :
         {Profile{"alexnet", 256, 44.8, 40.5, 61'100'840},
          Profile{"vgg16", 128, 233.9, 438.6, 138'357'544},
          Profile{"resnet50", 128, 182.5, 260.9, 25'557'032},
          Profile{"resnet101", 64, 197.3, 213.8, 44'549'160},
          Profile{"inception_v3", 128, 289.3, 399.8, 27'161'264},
          Profile{"densenet121", 64, 177.4, 148.8, 7'978'856},
          Profile{"gnmt_8layer", 32, 33.5, 55.9, 193'765'952},
          Profile{"gnmt_16layer", 128, 182.6, 337.9, 277'717'568}}) {
        SCOPED_TRACE(p.name);
        const Network network =
            read_profile_graph(folder / (std::string(p.name) + ".graph.txt"), p.batch);
        check(network);
        double forward = 0;
        double backward = 0;
        for (const Layer& layer : network.layers) {
            forward += *layer.forward_us;
            backward += *layer.backward_us;
        }
        EXPECT_NEAR(forward * p.batch / 1000, p.forward, 0.051);
        EXPECT_NEAR(backward * p.batch / 1000, p.backward, 0.051);
        EXPECT_EQ(parameters(network), p.parameters);
    }
}

}  // namespace
}  // namespace switchfold::network_profile_test
