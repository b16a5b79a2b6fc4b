// SPDX-License-Identifier: Apache-2.0
#include "training/learning/data/samples.h"

#include "core/error.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace switchfold::learning::samples_test {
namespace {

std::filesystem::path written(const std::string& name, const std::string& text) {
    const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
}

std::string error_of(const DataSpec& spec, const std::filesystem::path& file) {
    try {
        (void)csv_samples(spec, file, 1);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return {};
}

TEST(Samples, DependOnTheirNumbersAlone) {
    for (const auto make : {&teacher, &two_spirals, &noise}) {
        DataSpec spec;
        spec.samples = 40;
        const auto once = make(spec, 3);
        const auto again = make(spec, 3);
        (void)again->batch(1000, 7);
        EXPECT_EQ(once->batch(35, 10).inputs, again->batch(35, 10).inputs);
        EXPECT_EQ(once->batch(35, 10).targets, again->batch(35, 10).targets);
        EXPECT_EQ(once->batch(30, 10).inputs.col(7), once->batch(37, 1).inputs.col(0));
        EXPECT_NE(once->batch(35, 10).inputs, make(spec, 4)->batch(35, 10).inputs);
        EXPECT_EQ(once->held_out().inputs.rows(), once->features());
    }
}

TEST(Samples, EveryEpochHasEachSampleOnce) {
    DataSpec spec;
    spec.samples = 40;
    const auto samples = teacher(spec, 3);
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
        std::set<double> seen;
        const Batch all = samples->batch(40 * epoch, 40);
        for (Index j = 0; j < 40; ++j)
            seen.insert(all.inputs(0, j));
        EXPECT_EQ(seen.size(), 40U);
    }
    EXPECT_NE(samples->batch(0, 40).inputs, samples->batch(40, 40).inputs);
}

TEST(Samples, OfCsvAreNormalised) {
    DataSpec spec;
    spec.held_out = 1;
    const auto file = written("values.csv", "a,b,y\n1,5,0\n2,5,1\n3,5,2\n4,5,2\n");
    const auto values = csv_samples(spec, file, 1);
    EXPECT_EQ(values->features(), 2);
    EXPECT_EQ(values->outputs(), 1);
    EXPECT_EQ(values->loss(), LossKind::kSquares);
    EXPECT_EQ(values->batch(0, 3).inputs.row(1).sum(), 0);
    spec.classes = true;
    const auto classes = csv_samples(spec, file, 1);
    EXPECT_EQ(classes->outputs(), 3);
    EXPECT_EQ(classes->batch(0, 3).targets.colwise().sum().minCoeff(), 1);
}

TEST(Samples, OfABrokenCsvAreRefusedWithTheLine) {
    DataSpec spec;
    spec.held_out = 1;
    EXPECT_NE(
        error_of(spec, written("a.csv", "a,y\n1,2\n1,x\n")).find("line 3"), std::string::npos);
    EXPECT_NE(
        error_of(spec, written("b.csv", "a,y\n1,2\n1,2,3\n")).find("has 3 columns"),
        std::string::npos);
    EXPECT_NE(error_of(spec, written("c.csv", "a\n1\n")).find("one column"), std::string::npos);
    EXPECT_NE(error_of(spec, written("d.csv", "a,y\n")).find("line 2"), std::string::npos);
    EXPECT_NE(error_of(spec, written("e.csv", "a,y\n1,2\n")).find("held out"), std::string::npos);
    spec.classes = true;
    EXPECT_NE(
        error_of(spec, written("f.csv", "a,y\n1,1\n2,0.5\n")).find("is of class 0.5"),
        std::string::npos);
}

std::string array_of(std::initializer_list<unsigned char> sizes, const std::string& bytes) {
    std::string text{0, 0, 8, static_cast<char>(sizes.size())};
    for (const unsigned char size : sizes)
        text += std::string{0, 0, 0, static_cast<char>(size)};
    return text + bytes;
}

TEST(Samples, OfImagesAreMeansOfFourPixels) {
    const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "images";
    std::filesystem::create_directories(folder);
    const std::string images = array_of({2, 2, 2}, std::string(4, '\xff') + std::string(4, '\0'));
    for (const char* part : {"train", "t10k"}) {
        written(std::string("images/") + part + "-images-idx3-ubyte.gz", images);
        written(
            std::string("images/") + part + "-labels-idx1-ubyte.gz",
            array_of({2}, {'\x03', '\x09'}));
    }
    const auto samples = fashion_mnist({}, folder, 1);
    EXPECT_EQ(samples->features(), 1);
    EXPECT_EQ(samples->outputs(), 10);
    EXPECT_EQ(samples->held_out().inputs(0, 0), 0.5);
    EXPECT_EQ(samples->held_out().inputs(0, 1), -0.5);
    EXPECT_EQ(samples->held_out().targets(9, 1), 1);
    written("images/t10k-labels-idx1-ubyte.gz", array_of({3}, {'\x03', '\x09', '\x01'}));
    EXPECT_THROW((void)fashion_mnist({}, folder, 1), ConfigError);
    written("images/t10k-labels-idx1-ubyte.gz", array_of({3}, {'\x03'}));
    EXPECT_THROW((void)fashion_mnist({}, folder, 1), ConfigError);
}

}  // namespace
}  // namespace switchfold::learning::samples_test
