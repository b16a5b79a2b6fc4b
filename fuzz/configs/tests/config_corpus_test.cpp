// SPDX-License-Identifier: Apache-2.0
// Shipped configurations, broken copies of them and inputs that fuzzers once found. Each must be
// accepted or rejected, with any compiler, every time.
#include "core/random_stream.h"
#include "fuzz/configs/configs.h"
#include "workloads/tests/broken_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace switchfold::config_corpus_test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none))
        if (entry.is_regular_file())
            files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

std::string text_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

class ConfigCorpus : public ::testing::TestWithParam<std::string_view> {
protected:
    [[nodiscard]] static std::vector<fs::path> shipped() {
        return files_in(fs::path(SWITCHFOLD_SOURCE_DIR) / "configs" / fuzz::folder_of(GetParam()));
    }
};

TEST_P(ConfigCorpus, WhatShipsIsReadAndComesThroughItsOwnText) {
    std::size_t accepted = 0;
    for (const fs::path& file : shipped()) {
        SCOPED_TRACE(file);
        const bool read = fuzz::try_config(GetParam(), text_of(file));
        accepted += read ? 1 : 0;
        // A sweep of more than a few points is not expanded.
        EXPECT_TRUE(read || GetParam() == "sweep");
    }
    EXPECT_GT(accepted, 0U);
}

TEST_P(ConfigCorpus, WhatFuzzersFoundIsReadOrRefused) {
    for (const fs::path& file : files_in(
             fs::path(SWITCHFOLD_SOURCE_DIR) / "fuzz/configs/corpus" / std::string(GetParam()))) {
        SCOPED_TRACE(file);
        static_cast<void>(fuzz::try_config(GetParam(), text_of(file)));
    }
}

TEST_P(ConfigCorpus, BrokenCopiesAreReadOrRefused) {
    RandomStream random(1, std::string(GetParam()));
    const std::vector<fs::path> files = shipped();
    constexpr int kCopies = 400;
    int refused = 0;
    for (int i = 0; i < kCopies; ++i) {
        const fs::path& file = files[random.below(files.size())];
        const std::string text = testing::broken(text_of(file), random);
        SCOPED_TRACE(file.string() + "\n" + text);
        refused += fuzz::try_config(GetParam(), text) ? 0 : 1;
    }
    EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ConfigCorpus, ::testing::ValuesIn(fuzz::kConfigs),
    [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace switchfold::config_corpus_test
