// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "training/learning/data/text_sentences.h"
#include "training/learning/tests/training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

namespace switchfold::learning::text_test {
namespace {

DataSpec text_spec(std::uint32_t samples, std::uint32_t held_out) {
    DataSpec spec;
    spec.kind = DataKind::kText;
    spec.samples = samples;
    spec.held_out = held_out;
    return spec;
}

std::filesystem::path written(const std::string& text) {
    const std::filesystem::path path = ::testing::TempDir() + "learning_text.txt";
    std::ofstream(path, std::ios::binary) << text;
    return path;
}

std::string error_of(const DataSpec& spec, std::uint32_t tokens, const std::string& text) {
    try {
        (void)text_samples(spec, tokens, written(text), 1);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return {};
}

/// The row of the single one in a one-hot column; negative if the column is not one-hot.
Index one_of(const Matrix& column) {
    Index at = -1;
    for (Index i = 0; i < column.rows(); ++i)
        if (column(i, 0) == 1)
            at = at == -1 ? i : -2;
        else if (column(i, 0) != 0)
            return -2;
    return at;
}

TEST(Text, OfTheGrammarIsTheSeedsAndAgrees) {
    const std::string text = sentences(5000, 1);
    EXPECT_GE(text.size(), 5000U);
    EXPECT_EQ(text, sentences(5000, 1));
    EXPECT_NE(text, sentences(5000, 2));
    EXPECT_EQ(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz. "), std::string::npos);
    EXPECT_EQ(text.find("switchs"), std::string::npos);
    EXPECT_EQ(text.find("waits the"), std::string::npos);
}

TEST(Text, AsksForTheCharacterBehindEachWindow) {
    // Characters are numbered in the order of their bytes: a, b, c.
    const auto samples = text_samples(text_spec(3, 1), 2, written("abcabcabc"), 1);
    EXPECT_EQ(samples->features(), 6);
    EXPECT_EQ(samples->outputs(), 3);
    const Batch batch = samples->batch(0, 3);
    for (Index j = 0; j < 3; ++j) {
        const Index first = one_of(batch.inputs.block(0, j, 3, 1));
        ASSERT_GE(first, 0);
        EXPECT_EQ(one_of(batch.inputs.block(3, j, 3, 1)), (first + 1) % 3);
        EXPECT_EQ(one_of(batch.targets.col(j)), (first + 2) % 3);
    }
    EXPECT_EQ(one_of(samples->held_out().targets), 2);  // the final c
}

TEST(Text, ThatIsTooShortOrNoneIsRefused) {
    EXPECT_NE(
        error_of(text_spec(10, 5), 4, "abc").find("has 3 characters; expected at least 14"),
        std::string::npos);
    EXPECT_EQ(error_of(text_spec(10, 5), 4, "abcabcabcabcab"), "");
    EXPECT_NE(
        error_of(text_spec(1, 1), 1, std::string("ab\0cdef", 7)).find("byte 2: is 0"),
        std::string::npos);
    EXPECT_THROW((void)text_samples(text_spec(1, 1), 1, "/nowhere/text", 1), ConfigError);
}

/// A transformer block predicts the next character better than character frequencies do.
TEST(Text, IsLearntByATransformer) {
    Task task;
    task.network = {NetworkKind::kTransformer, 3, 16};
    task.network.inside = 32;
    task.network.tokens = 8;
    task.data = text_spec(2048, 128);
    task.optimizer.rule = OptimizerRule::kAdam;
    task.optimizer.rate = 0.01;
    task.batch = 16;
    task.steps = 150;
    task.evaluate_every = 150;
    const TrainingRun run =
        trained(task, WeightPolicy::kLatest, timeline_of("gpipe", 1, 1, task.steps));
    const auto samples = make_samples(task, 1, {});
    const Batch& held_out = samples->held_out();
    double entropy = 0;
    for (Index i = 0; i < held_out.targets.rows(); ++i) {
        const double share = held_out.targets.row(i).sum() / 128;
        if (share > 0)
            entropy -= share * std::log(share);
    }
    EXPECT_GT(run.losses.front().loss, entropy);
    EXPECT_LT(run.losses.back().loss, 0.85 * entropy);
}

TEST(Text, OfATransformerNeedsTokensThatShareFeaturesEvenly) {
    Task task;
    task.network = {NetworkKind::kTransformer, 3, 4};
    task.network.tokens = 3;
    task.data.kind = DataKind::kCsv;
    task.data.held_out = 1;
    task.data.file = written("a,b,c,d,e\n1,2,3,4,5\n2,3,4,5,6\n3,4,5,6,7\n").string();
    try {
        (void)make_samples(task, 1, {});
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_NE(
            std::string(error.what()).find("is 3, which does not divide the 4 features"),
            std::string::npos)
            << error.what();
    }
}

}  // namespace
}  // namespace switchfold::learning::text_test
