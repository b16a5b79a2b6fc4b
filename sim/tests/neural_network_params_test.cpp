// SPDX-License-Identifier: Apache-2.0
#include "sim/config/neural_network_params.h"

#include "core/error.h"
#include "core/params_reader.h"
#include "core/tests/temporary_folder.h"
#include "sim/config/training_params.h"
#include "sim/workload/training_workload.h"

#include <gtest/gtest.h>

#include <fstream>

namespace switchfold::neural_network_params_test {
namespace {

TrainingWorkloadParams read(const std::string& text, std::span<const Override> overrides = {}) {
    return read_params<TrainingWorkloadParams>(OrderedJson::parse(text), "f", overrides);
}

std::string refused(const std::string& text) {
    try {
        static_cast<void>(read(text));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

Network made(const std::string& text) {
    return network_of(read(text), ".");
}

TEST(NeuralNetworkParams, ANameIsTheZoos) {
    const Network network = made(R"({"network": "resnet50"})");
    EXPECT_EQ(network.name, "resnet50");
    EXPECT_EQ(parameters(network), 25'557'032U);
}

TEST(NeuralNetworkParams, AnObjectIsAShape) {
    const Network gpt = made(
        R"({"network": {"type": "gpt", "layers": 2, "hidden": 64, "heads": 4, "sequence": 32,
                        "vocabulary": 100, "tied": false}})");
    EXPECT_EQ(
        parameters(gpt), 12U * 2 * 64 * 64 + 13 * 2 * 64 + (100 + 32) * 64 + 2 * 64 + 64 * 100);
    EXPECT_EQ(gpt.name, "gpt of 2 blocks, width 64");
    EXPECT_EQ(gpt.tokens, 32U);
    const Network llama = made(
        R"({"network": {"type": "llama", "layers": 1, "hidden": 64, "heads": 4, "kv_heads": 2,
                        "sequence": 32, "vocabulary": 100, "feed_forward": 96}})");
    EXPECT_EQ(parameters(llama), 64U * (64 + 32 + 32 + 64 + 3 * 96) + 3 * 64 + 2 * 64 * 100);
    const Network mixture = made(
        R"({"network": {"type": "moe", "layers": 1, "hidden": 64, "heads": 4, "sequence": 32,
                        "vocabulary": 100, "feed_forward": 96, "experts": 8, "top_k": 2}})");
    EXPECT_EQ(parameters(mixture), 64U * (4 * 64 + 8 * 3 * 96 + 8) + 3 * 64 + 2 * 64 * 100);
}

TEST(NeuralNetworkParams, OverridesReachTheShape) {
    const std::vector<Override> wider{{"/network/hidden", 128}};
    const auto workload = read(
        R"({"network": {"type": "gpt", "layers": 2, "hidden": 64, "heads": 4, "sequence": 32}})",
        wider);
    EXPECT_EQ(std::get<GptShape>(*workload.network->shape).hidden, 128U);
    const std::vector<Override> another{{"/network", "vgg16"}};
    EXPECT_EQ(read(R"({"network": "resnet50"})", another).network->text, "vgg16");
    const auto effective = [](const char* text) { return write_value(read(text)); };
    const auto once = effective(R"({"network": "resnet50"})");
    EXPECT_EQ(once["network"], "resnet50");
    EXPECT_EQ(effective(once.dump().c_str()), once);
    const auto shape = effective(
        R"({"network": {"type": "gpt", "layers": 2, "hidden": 64, "heads": 4, "sequence": 32}})");
    EXPECT_EQ(shape["network"]["type"], "gpt");
    EXPECT_EQ(effective(shape.dump().c_str()), shape);
}

TEST(NeuralNetworkParams, RefusesWhatIsNoNetwork) {
    EXPECT_NE(
        refused(R"({"network": "resnet5"})")
            .find("f: /network: unknown network \"resnet5\", did you mean \"resnet50\"?; expected "
                  "one of: alexnet, "),
        std::string::npos);
    EXPECT_NE(refused(R"({"network": ""})").find("unknown network \"\""), std::string::npos);
    EXPECT_NE(
        refused(R"({"network": 3})")
            .find("expected the name of a network, the path of a table, or an object"),
        std::string::npos);
    const auto gpt = [](const std::string& rest) {
        return refused(
            R"({"network": {"type": "gpt", "layers": 2, "hidden": 64, "sequence": 32, )" + rest +
            "}}");
    };
    EXPECT_EQ(
        gpt(R"("heads": 7)"),
        "f: /network/heads: is 7, and the width 64; expected heads that share it evenly, or "
        "head_width");
    EXPECT_NE(
        gpt(R"("heads": 4, "kv_head": 2)").find("/network/kv_head: unknown"), std::string::npos);
    EXPECT_NE(
        refused(R"({"network": {"type": "gtp"}})").find("did you mean \"gpt\"?"),
        std::string::npos);
    EXPECT_EQ(
        refused(R"({"network": {"type": "llama", "layers": 2, "hidden": 64, "sequence": 32,
                                "heads": 4, "kv_heads": 3, "feed_forward": 8}})"),
        "f: /network/kv_heads: is 3, and heads 4; expected as many heads of queries each");
    EXPECT_EQ(
        refused(R"({"network": {"type": "moe", "layers": 2, "hidden": 64, "sequence": 32,
                                "heads": 4, "feed_forward": 8, "experts": 2, "top_k": 3}})"),
        "f: /network/top_k: is 3 of 2 experts; expected at most those");
    EXPECT_NE(
        refused(R"({"network": "resnet50", "table": "t.csv"})").find("names two networks"),
        std::string::npos);
}

TEST(NeuralNetworkParams, AProfileBringsMeasuredTimes) {
    const TemporaryFolder temporary;
    const std::filesystem::path& folder = temporary.path();
    std::ofstream(folder / "p.graph.txt")
        << "node1 -- ReLU -- forward_compute_time=1, backward_compute_time=2, activation_size=4, "
           "parameter_size=0\n";
    const auto workload =
        read(R"({"network": {"type": "profile", "file": "p.graph.txt", "batch": 1}})");
    EXPECT_EQ(workload.network->file(), "p.graph.txt");
    EXPECT_EQ(network_of(workload, folder).layers.at(0).backward_us, 2000.0);
}

/// The old key "table" and the new key "network" mean the same.
TEST(NeuralNetworkParams, ATableIsANetworkWithAPath) {
    const TemporaryFolder temporary;
    const std::filesystem::path& folder = temporary.path();
    std::ofstream(folder / "t.csv")
        << "layer,type,params,fwd_macs_per_sample,out_elems_per_sample\nfc,linear,110,100,10\n";
    const Network one = network_of(read(R"({"table": "t.csv"})"), folder);
    const Network other = network_of(read(R"({"network": "t.csv"})"), folder);
    EXPECT_EQ(one.name, other.name);
    ASSERT_EQ(one.layers.size(), other.layers.size());
    EXPECT_EQ(one.layers.at(0).parameters, other.layers.at(0).parameters);
}

}  // namespace
}  // namespace switchfold::neural_network_params_test
