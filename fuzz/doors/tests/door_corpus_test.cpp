// SPDX-License-Identifier: Apache-2.0
// Other tools' files, broken copies of them and inputs that fuzzers once found. Each must be
// accepted or rejected, with any compiler, every time.
#include "core/random_stream.h"
#include "fuzz/doors/doors.h"
#include "workloads/tests/broken_text.h"

#include <gtest/gtest.h>

#include <algorithm>
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
        EXPECT_TRUE(read || file.filename().string().starts_with("found_"));
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

INSTANTIATE_TEST_SUITE_P(
    Doors, DoorCorpus, ::testing::ValuesIn(fuzz::kDoors),
    [](const auto& door) { return std::string(door.param); });

}  // namespace
}  // namespace switchfold::door_corpus_test
