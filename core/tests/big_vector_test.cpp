// SPDX-License-Identifier: Apache-2.0
#include "core/big_vector.h"

#include "core/big_sort.h"
#include "core/tests/temporary_folder.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace switchfold::big_vector_test {
namespace {

struct Record {
    std::uint64_t key = 0;
    std::uint64_t place = 0;
    bool operator==(const Record&) const = default;
};

constexpr std::size_t kWindowRecords = BigMemory::kWindow / sizeof(Record);

bool by_key(const Record& a, const Record& b) {
    return a.key < b.key;
}

/// Resident memory of this process in bytes.
std::size_t resident() {
    std::ifstream file("/proc/self/statm");
    std::size_t pages = 0;
    file >> pages >> pages;
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

BigVector<Record> records(std::size_t count, std::uint64_t keys) {
    std::mt19937_64 random(7);
    BigVector<Record> made;
    for (std::size_t i = 0; i < count; ++i)
        made.push_back({random() % keys, i});
    return made;
}

/// Expects a vector that has grown to `count` records to hold all of them, in order.
void expect_kept(std::size_t count) {
    const BigVector<Record> made = records(count, UINT64_MAX);
    ASSERT_EQ(made.size(), count);
    std::size_t wrong = 0;
    std::size_t i = 0;
    for (const Record& record : made.pass())
        wrong += record.place == i++ ? 0 : 1;
    EXPECT_EQ(wrong, 0U);
    EXPECT_EQ(i, count);
}

/// Sets an environment variable for the lifetime of this object.
class Setting {
public:
    Setting(const char* name, const std::string& value) : name_(name) {
        if (const char* before = getenv(name))
            before_ = std::make_unique<std::string>(before);
        setenv(name, value.c_str(), 1);
    }
    Setting(const Setting&) = delete;
    Setting& operator=(const Setting&) = delete;
    ~Setting() {
        if (before_)
            setenv(name_, before_->c_str(), 1);
        else
            unsetenv(name_);
    }

private:
    const char* name_;
    std::unique_ptr<std::string> before_;
};

TEST(BigMemory, LittleLiesInTheHeapAndMuchInAFile) {
    BigMemory memory;
    memory.grow(1000);
    EXPECT_FALSE(memory.in_file());
    static_cast<char*>(memory.data())[999] = 'x';
    memory.grow(BigMemory::kHeapMost + 1);
    EXPECT_TRUE(memory.in_file());
    memory.forget();
    EXPECT_EQ(static_cast<char*>(memory.data())[999], 'x');
    const TemporaryFolder folder;
    const Setting place("TMPDIR", folder.path());
    BigMemory another;
    another.grow(BigMemory::kHeapMost + 1);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "the file has no name";
}

TEST(BigVector, KeepsAllWhereverItLies) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, 5 * kWindowRecords + 3})
        expect_kept(count);
}

TEST(BigVector, WithoutAFileItIsMemory) {
    const Setting place("TMPDIR", "/nowhere/at/all");
    BigMemory memory;
    memory.grow(BigMemory::kHeapMost + 1);
    EXPECT_FALSE(memory.in_file());
    expect_kept(5 * kWindowRecords);
}

TEST(BigVector, WhereFilesMayNotGrowItIsMemory) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small{2 * BigMemory::kWindow, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    expect_kept(9 * kWindowRecords);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
}

TEST(BigVector, MemoryDoesNotGrowWithTheRecords) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "what was given back the sanitizer keeps for a while";
#endif
    constexpr std::size_t kWindows = 32;
    const std::size_t before = resident();
    BigVector<Record> made = records(kWindows * kWindowRecords, UINT64_MAX);
    // One window for the latest records, and one for the other resident pages of the file.
    EXPECT_LT(resident(), before + 2 * BigMemory::kWindow);
    std::size_t most = 0;
    big_sort(made, [&, asked = std::size_t{0}](const Record& a, const Record& b) mutable {
        if (++asked % 1'000'000 == 0)
            most = std::max(most, resident());
        return by_key(a, b);
    });
    EXPECT_GT(most, before);
    EXPECT_LT(most, before + 6 * BigMemory::kWindow) << "of " << kWindows << " windows";
    EXPECT_TRUE(std::is_sorted(made.begin(), made.end(), by_key));
}

TEST(BigSort, EqualsKeepTheirOrderAcrossRuns) {
    BigVector<Record> made = records(5 * kWindowRecords + 1, 100);
    big_sort(made, by_key);
    std::size_t wrong = 0;
    for (std::size_t i = 1; i < made.size(); ++i)
        wrong += made[i - 1].key < made[i].key ||
                         (made[i - 1].key == made[i].key && made[i - 1].place < made[i].place)
                     ? 0
                     : 1;
    EXPECT_EQ(wrong, 0U);
}

RC_GTEST_PROP(BigSortProperty, IsAStableSort, (const std::vector<std::uint8_t>& keys)) {
    std::vector<Record> expected;
    BigVector<Record> made;
    for (const std::uint8_t key : keys) {
        expected.push_back({key, expected.size()});
        made.push_back(expected.back());
    }
    std::stable_sort(expected.begin(), expected.end(), by_key);
    big_sort(made, by_key);
    RC_ASSERT(made == (BigVector<Record>{expected.begin(), expected.end()}));
    const std::size_t run = *rc::gen::inRange<std::size_t>(1, 10);
    BigVector<Record> runs;
    for (const std::uint8_t key : keys)
        runs.push_back({key, runs.size()});
    for (std::size_t from = 0; from < runs.size(); from += run)
        std::stable_sort(
            runs.begin() + from, runs.begin() + std::min(from + run, runs.size()), by_key);
    RC_ASSERT(merge_runs(runs, run, by_key) == made);
}

RC_GTEST_PROP(BigVectorProperty, CopiesMovesAndShrinksLikeAVector, (std::vector<int> values)) {
    BigVector<int> made(values.begin(), values.end());
    const BigVector<int> copy = made;
    RC_ASSERT(copy == made);
    BigVector<int> moved = std::move(made);
    RC_ASSERT(moved == copy);
    const std::size_t size = values.empty() ? 0 : *rc::gen::inRange<std::size_t>(0, values.size());
    moved.shrink(size);
    values.resize(size);
    RC_ASSERT(moved == (BigVector<int>{values.begin(), values.end()}));
}

}  // namespace
}  // namespace switchfold::big_vector_test
