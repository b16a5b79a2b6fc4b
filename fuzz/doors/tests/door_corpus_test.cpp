// SPDX-License-Identifier: Apache-2.0
// Other tools' files, wrong_* that are refused, broken copies of them and inputs that fuzzers once
// found. Each must be accepted or rejected, with any compiler, every time.
#include "core/random_stream.h"
#include "fuzz/doors/doors.h"
#include "fuzz/doors/text_mutation.h"
#include "workloads/tests/broken_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace switchfold::door_corpus_test {
namespace {

namespace fs = std::filesystem;

class DoorCorpus : public ::testing::TestWithParam<std::string_view> {
protected:
    [[nodiscard]] static std::vector<fs::path> files() {
        const fs::path root(SWITCHFOLD_SOURCE_DIR);
        std::vector<fs::path> found;
        const auto add = [&](const fs::path& folder) {
            for (const auto& entry : fs::directory_iterator(folder))
                if (entry.path().extension() != ".et" || GetParam() == "custom_collective")
                    found.push_back(entry.path());
        };
        add(root / "fuzz/doors/corpus" / std::string(GetParam()));
        if (GetParam() == "program")
            add(root / "configs/programs");
        std::sort(found.begin(), found.end());
        return found;
    }
    static std::string text_of(const fs::path& path) {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
};

TEST_P(DoorCorpus, WhatIsThereIsReadAndWhatWasFoundReadOrRefused) {
    std::size_t accepted = 0;
    for (const fs::path& file : files()) {
        SCOPED_TRACE(file);
        const bool read = fuzz::try_door(GetParam(), text_of(file));
        const std::string name = file.filename().string();
        EXPECT_TRUE(read || name.starts_with("found_") || name.starts_with("wrong_"));
        EXPECT_FALSE(read && name.starts_with("wrong_"));
        accepted += read ? 1 : 0;
    }
    EXPECT_GT(accepted, 0U);
}

TEST_P(DoorCorpus, BrokenCopiesAreReadOrRefused) {
    RandomStream random(1, std::string(GetParam()));
    const std::vector<fs::path> all = files();
    constexpr int kCopies = 400;
    for (int i = 0; i < kCopies; ++i) {
        const fs::path& file = all[random.below(all.size())];
        const std::string text = testing::broken(text_of(file), random);
        SCOPED_TRACE(file.string() + "\n" + text);
        static_cast<void>(fuzz::try_door(GetParam(), text));
    }
}

TEST_P(DoorCorpus, CopiesWithAnElementChangedAreReadOrRefused) {
    if (GetParam() == "custom_collective")
        return;  // no text
    const std::vector<fs::path> all = files();
    constexpr std::uint32_t kCopies = 400;
    for (std::uint32_t seed = 1; seed <= kCopies; ++seed) {
        const std::string text = text_of(all[seed % all.size()]);
        const std::string copy = fuzz::mutated_text(text, seed);
        EXPECT_EQ(copy, fuzz::mutated_text(text, seed));
        SCOPED_TRACE(copy);
        static_cast<void>(fuzz::try_door(GetParam(), copy));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Doors, DoorCorpus, ::testing::ValuesIn(fuzz::kDoors),
    [](const auto& door) { return std::string(door.param); });

}  // namespace
}  // namespace switchfold::door_corpus_test
