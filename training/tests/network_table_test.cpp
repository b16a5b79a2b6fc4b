// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "training/network/table.h"

#include <gtest/gtest.h>

namespace switchfold::network_table_test {
namespace {

constexpr const char* kOld = "idx,layer,type,params,fwd_macs_per_sample,out_elems_per_sample\n"
                             "0,conv1,conv,1000000,50000000,100000\n"
                             "1,bn1,batchnorm,64,0,100000\n"
                             "2,fc,linear,8000000,8000000,1000\n";

constexpr const char* kGraph =
    "layer,type,params,fwd_macs_per_sample,out_elems_per_sample,inputs,in_elems_per_sample,"
    "out_shape,shares,split,block,groups,heads,forward_us,backward_us\n"
    "words,embedding,640,0,32,@input,8,8x4,,vocabulary,,,,,\n"
    "attend,attention,0,256,32,words;words;words,,8x4,,heads,0,,2,1.5,3e0\n"
    "sum,add,0,0,32,words;attend,64,8x4,,none,0,,,,\n"
    "head,linear,0,5120,1280,sum,32,8x160,words,vocabulary,,1,,,\n"
    "beside,linear,16,16,4,@vector,,4,,,,,,,\n"
    "constant,linear,4,4,4,,,4,,,,,,,\n";

TEST(NetworkTable, WithoutAGraphIsAChain) {
    const Network network = parse_network_table(kOld, "folder/t.csv");
    ASSERT_EQ(network.layers.size(), 3U);
    EXPECT_EQ(network.name, "t");
    EXPECT_EQ(network.layers[2].name, "fc");
    EXPECT_EQ(network.layers[2].parameters, 8'000'000U);
    EXPECT_EQ(network.layers[0].macs, 50'000'000U);
    EXPECT_EQ(network.layers[1].out_elements, 100'000U);
    EXPECT_EQ(network.layers[0].inputs.size(), 0U);
    EXPECT_EQ(network.layers[0].in_elements, 100'000U);
    EXPECT_EQ(network.layers[2].inputs, std::vector<std::uint32_t>{1});
    EXPECT_EQ(network.layers[2].in_elements, 100'000U);
    std::string windows = kOld;
    for (std::size_t at = 0; (at = windows.find('\n', at)) != std::string::npos; at += 2)
        windows.replace(at, 1, "\r\n");
    EXPECT_EQ(parse_network_table(windows, "t").layers.at(2).out_elements, 1000U);
}

TEST(NetworkTable, ReadsAllColumns) {
    const Network network = parse_network_table(kGraph, "t");
    ASSERT_EQ(network.layers.size(), 6U);
    EXPECT_EQ(network.tokens, 8U);
    const std::vector<Layer>& layers = network.layers;
    EXPECT_EQ(layers[0].inputs.size(), 0U);
    EXPECT_EQ(layers[0].in_elements, 8U);
    EXPECT_EQ(layers[0].split, TensorSplit::kVocabulary);
    EXPECT_EQ(layers[0].block, kNoBlock);
    EXPECT_EQ(layers[0].forward_us, std::nullopt);
    EXPECT_EQ(layers[1].inputs, (std::vector<std::uint32_t>{0, 0, 0}));
    EXPECT_EQ(layers[1].in_elements, 96U) << "what its inputs have";
    EXPECT_EQ(layers[1].out_shape, (std::vector<std::uint64_t>{8, 4}));
    EXPECT_EQ(layers[1].split, TensorSplit::kHeads);
    EXPECT_EQ(layers[1].block, 0U);
    EXPECT_EQ(layers[1].heads, 2U);
    EXPECT_EQ(layers[1].forward_us, 1.5);
    EXPECT_EQ(layers[1].backward_us, 3.0);
    EXPECT_EQ(layers[3].shares, 0U);
    EXPECT_EQ(layers[3].groups, 1U);
    EXPECT_EQ(layers[4].in_elements, 4U) << "an input of the network, as large as the output";
    EXPECT_EQ(layers[5].in_elements, 0U) << "a constant";
}

std::string refused(std::string_view text) {
    try {
        static_cast<void>(parse_network_table(text, "t"));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(NetworkTable, NamesEveryProblem) {
    EXPECT_EQ(
        refused("layer,type,params,fwd_macs_per_sample,out_elems_per_sample\n"
                "a,conv,x,1,2\n"
                "b,conv\n"
                ",conv,1,-1,9999999999999999999\n"),
        "t: /: line 2: params is \"x\"; expected a whole number up to 1000000000000000\n"
        "t: /: line 3: has 2 cells; expected 5\n"
        "t: /: line 4: fwd_macs_per_sample is \"-1\"; expected a whole number up to "
        "1000000000000000\n"
        "t: /: line 4: out_elems_per_sample is \"9999999999999999999\"; expected a whole number up "
        "to 1000000000000000\n"
        "t: /: line 4: has no name; expected one");
    EXPECT_EQ(
        refused("layer,type\n"), "t: /: line 1: has no column \"params\"\n"
                                 "t: /: line 1: has no column \"fwd_macs_per_sample\"\n"
                                 "t: /: line 1: has no column \"out_elems_per_sample\"");
    EXPECT_NE(
        refused("layer,type,params,fwd_macs_per_sample,out_elems_per_sample,input,layer\n")
            .find("unknown column \"input\", did you mean \"inputs\"?; expected: layer, type"),
        std::string::npos);
    EXPECT_NE(
        refused("layer,type,params,fwd_macs_per_sample,out_elems_per_sample,layer\n")
            .find("has two columns \"layer\""),
        std::string::npos);
    EXPECT_EQ(
        refused("layer,type,params,fwd_macs_per_sample,out_elems_per_sample\n"),
        "t: /: has no layer; expected at least one line below the header");
}

TEST(NetworkTable, NamesEveryProblemOfTheGraph) {
    const std::string header =
        "layer,type,params,fwd_macs_per_sample,out_elems_per_sample,inputs,in_elems_per_sample,"
        "out_shape,shares,split,block,forward_us\n"
        "conv,conv,8,8,8,@input,,8,,,,\n";
    const auto problem = [&](const std::string& line) { return refused(header + line + "\n"); };
    EXPECT_EQ(
        problem("b,relu,0,0,8,cnov,,8,,,,"),
        "t: /: line 3: inputs names \"cnov\", did you mean \"conv\"?; expected a layer that comes "
        "before");
    EXPECT_EQ(
        problem("b,relu,0,0,8,b,,8,,,,"),
        "t: /: line 3: inputs names \"b\"; expected a layer that comes before");
    EXPECT_EQ(
        problem("b,relu,0,0,8,conv,7,8,,,,"),
        "t: /: line 3: b reads 7 elements, and its inputs have 8");
    EXPECT_EQ(
        problem("b,relu,0,0,8,conv,,2x3,,,,"), "t: /: line 3: b has 8 elements, and its shape 6");
    const char* const shape = "\"; expected CHANNELSxHEIGHTxWIDTH, TOKENSxWIDTH or WIDTH";
    EXPECT_EQ(
        problem("b,relu,0,0,8,conv,,2x,,,,"),
        std::string("t: /: line 3: out_shape is \"2x") + shape);
    EXPECT_EQ(
        problem("b,relu,0,0,8,conv,,1x1x1x8,,,,"),
        std::string("t: /: line 3: out_shape is \"1x1x1x8") + shape);
    EXPECT_EQ(
        problem("b,relu,0,0,8,conv,,4294967296x4294967296,,,,"),
        std::string("t: /: line 3: out_shape is \"4294967296x4294967296") + shape);
    EXPECT_EQ(
        problem("b,relu,0,0,8,conv,,8,d,columsn,one,-1"),
        "t: /: line 3: shares names \"d\"; expected a layer that comes before\n"
        "t: /: line 3: split is \"columsn\"; expected one of: none, columns, rows, heads, "
        "vocabulary, experts\n"
        "t: /: line 3: block is \"one\"; expected a whole number up to 4294967294\n"
        "t: /: line 3: forward_us is \"-1\"; expected microseconds a sample");
    EXPECT_EQ(
        problem("conv,relu,0,0,8,conv,,8,,,,"),
        "t: /: line 3: conv exists already; expected one layer a name");
    EXPECT_EQ(
        problem("b,relu,0,0,8,conv,,8,,,,\nc,relu,0,0,8,b,,8,b,,,"),
        "t: /: line 4: c shares weights of b, which has none");
}

TEST(NetworkTable, AFileThatIsNotThereIsTheSystemsError) {
    EXPECT_THROW(static_cast<void>(read_network_table("no_such_table.csv")), IoError);
}

}  // namespace
}  // namespace switchfold::network_table_test
