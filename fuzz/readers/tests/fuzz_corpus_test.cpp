// SPDX-License-Identifier: Apache-2.0
// Reads the fuzzers' seeds and their earlier findings again, without a fuzzer, so that they run
// with any compiler and in every test run.
#include "fuzz/readers/readers.h"
#include "workloads/tests/trace_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace switchfold::fuzz_corpus_test {
namespace {

std::filesystem::path fuzz_folder() {
    return std::filesystem::path(SWITCHFOLD_SOURCE_DIR) / "fuzz/readers";
}

std::vector<std::filesystem::path> inputs_of(std::string_view reader) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(fuzz_folder() / "corpus" / reader))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

class FuzzCorpus : public ::testing::TestWithParam<std::string_view> {};

TEST_P(FuzzCorpus, EveryInputIsReadOrRefused) {
    std::size_t accepted = 0;
    for (const std::filesystem::path& file : inputs_of(GetParam())) {
        SCOPED_TRACE(file);
        const bool read = fuzz::try_reader(GetParam(), test_data::content_of(file));
        accepted += read ? 1 : 0;
        // A finding may be accepted or refused. A seed has to be read to the end.
        const bool found = file.filename().string().starts_with("found");
        EXPECT_TRUE(read || found);
    }
    EXPECT_GT(accepted, 0U);
}

TEST_P(FuzzCorpus, HasADictionary) {
    const auto file = fuzz_folder() / "dictionaries" / (std::string(GetParam()) + ".dict");
    EXPECT_TRUE(std::filesystem::exists(file)) << file;
}

INSTANTIATE_TEST_SUITE_P(
    Readers, FuzzCorpus, ::testing::ValuesIn(fuzz::readers()),
    [](const auto& reader) { return std::string(reader.param); });

TEST(FuzzCorpusFolder, HoldsNoReaderThatNobodyKnows) {
    const auto readers = fuzz::readers();
    for (const auto& entry : std::filesystem::directory_iterator(fuzz_folder() / "corpus"))
        EXPECT_EQ(std::count(readers.begin(), readers.end(), entry.path().filename()), 1)
            << entry.path();
}

}  // namespace
}  // namespace switchfold::fuzz_corpus_test
