// SPDX-License-Identifier: Apache-2.0
#include "training/memory/access/parameter_chain.h"
#include "training/memory/offload/first_fit.h"
#include "training/memory/offload/optimal.h"
#include "training/network/table.h"

#include <gtest/gtest.h>

#include <numeric>
#include <optional>

namespace switchfold::published_pins_test {
namespace {

constexpr std::uint64_t kMiB = 1U << 20U;
constexpr OptimalOptions kMebibytes{kMiB};

const std::filesystem::path kModels =
    std::filesystem::path(SWITCHFOLD_SOURCE_DIR) / "../shared/models";

TensorUses chain(const std::string& name, std::uint32_t batch, std::uint64_t input) {
    ChainOptions options;
    options.batch = batch;
    options.input_elements = input;
    options.granule = kMiB;
    return parameter_chain(read_network_table(kModels / (name + ".csv")), options);
}

struct Row {
    std::uint64_t capacity;  // MiB, as are all fields below
    std::uint64_t listed;    ///< first fit, candidates a_0 .., then h_1 ..
    std::uint64_t accessed;  ///< first fit, candidates in the order of their first use
    std::uint64_t double_peak;
    std::uint64_t window;
};
struct Named {
    std::string name;
    std::uint32_t batch;
    std::uint64_t input;
    std::uint64_t candidates;
    std::uint64_t greedy_floor;
    std::uint64_t optimal_floor;
    std::vector<Row> rows;
};

void PrintTo(const Named& named, std::ostream* out) {
    *out << named.name;
}

constexpr std::uint64_t kImage = 3ULL * 224 * 224;

class PublishedPins : public ::testing::TestWithParam<Named> {
protected:
    void SetUp() override {
        if (!std::filesystem::exists(kModels))
            GTEST_SKIP() << "no tables of layers at " << kModels;
    }
};

TEST_P(PublishedPins, AreFound) {
    const Named& named = GetParam();
    const TensorUses schedule = chain(named.name, named.batch, named.input);
    const OffloadProblem twice = offload_problem(schedule, Staging::kDoublePeak);
    const OffloadProblem window = offload_problem(schedule, Staging::kWindow);
    EXPECT_EQ(candidate_bytes(schedule), named.candidates * kMiB);
    EXPECT_EQ(staging_bytes(twice, std::vector<bool>(twice.size())), named.greedy_floor * kMiB);
    EXPECT_EQ(least_capacity(twice).bytes, named.optimal_floor * kMiB);
    std::vector<std::uint32_t> listed(twice.size());
    std::iota(listed.begin(), listed.end(), 0U);
    const std::vector<std::uint32_t> accessed = access_order(schedule, twice);
    for (const Row& row : named.rows) {
        SCOPED_TRACE(row.capacity);
        const auto greedy = [&](const std::vector<std::uint32_t>& order) {
            return retained_bytes(twice, first_fit(twice, row.capacity * kMiB, order).value()) /
                   kMiB;
        };
        const auto optimal = [&](const OffloadProblem& problem) {
            const OffloadChoice choice = retain_optimally(problem, row.capacity * kMiB, kMebibytes);
            EXPECT_TRUE(choice.certificate.optimal);
            return retained_bytes(problem, choice.retained) / kMiB;
        };
        EXPECT_EQ(greedy(listed), row.listed);
        EXPECT_EQ(greedy(accessed), row.accessed);
        EXPECT_EQ(optimal(twice), row.double_peak);
        EXPECT_EQ(optimal(window), row.window);
    }
}

// One published value does not follow from the rule as written: VGG-16 at 6,528 in the listed
// order, where the source has 3,388 and the rule gives 3,384. All others agree.
INSTANTIATE_TEST_SUITE_P(
    Networks, PublishedPins,
    ::testing::Values(
        Named{
            "alexnet",
            256,
            kImage,
            867,
            1320,
            1196,
            {{1320, 354, 356, 640, 845},
             {1356, 679, 682, 682, 867},
             {1430, 743, 756, 756, 867},
             {1504, 802, 802, 824, 867}}},
        Named{
            "vgg16",
            64,
            kImage,
            3888,
            6278,
            4710,
            {{6278, 3138, 3138, 3138, 3888},
             {6528, 3384, 3388, 3388, 3888},
             {6653, 3495, 3495, 3513, 3888},
             {6778, 3495, 3495, 3638, 3888},
             {6903, 3495, 3495, 3763, 3888}}},
        Named{
            "resnet50",
            64,
            kImage,
            5650,
            1574,
            1574,
            {{1979, 407, 407, 407, 1191},
             {2790, 1610, 1610, 2002, 2198},
             {4411, 3623, 3623, 3623, 3819}}},
        Named{
            "inception_v3",
            64,
            3ULL * 299 * 299,
            4784,
            2710,
            2340,
            {{2710, 1334, 1334, 1354, 1861}, {3853, 2497, 2497, 2497, 3004}}},
        Named{
            "gpt2_small",
            4,
            1024,
            2133,
            938,
            777,
            {{938, 322, 322, 322, 612}, {1541, 925, 925, 925, 1215}}}),
    [](const auto& named) { return named.param.name; });

TEST(PublishedPin, AlexnetAt1393) {
    if (!std::filesystem::exists(kModels))
        GTEST_SKIP() << "no tables of layers at " << kModels;
    const TensorUses schedule = chain("alexnet", 256, kImage);
    const auto retained = [&](Staging staging) {
        const OffloadProblem problem = offload_problem(schedule, staging);
        return retained_bytes(problem, retain_optimally(problem, 1393 * kMiB, kMebibytes).retained);
    };
    EXPECT_EQ(retained(Staging::kDoublePeak), 719 * kMiB);
    EXPECT_EQ(retained(Staging::kWindow), 867 * kMiB);
}

/// Gain of the exact programme over GeePS's rule, as mean and maximum over 13 capacities, from the
/// least that the rule needs to where everything fits. It is computed with GeePS's staging and with
/// exact staging. The published pages give 12.9 and 23.9 % for exact staging of VGG-16.
TEST(PublishedPin, MostOfTheGainIsExactStaging) {
    if (!std::filesystem::exists(kModels))
        GTEST_SKIP() << "no tables of layers at " << kModels;
    const TensorUses schedule = chain("vgg16", 64, kImage);
    const OffloadProblem twice = offload_problem(schedule, Staging::kDoublePeak);
    const OffloadProblem window = offload_problem(schedule, Staging::kWindow);
    const std::uint64_t least = staging_bytes(twice, std::vector<bool>(twice.size())) / kMiB;
    const std::uint64_t most =
        (twice.total() + staging_bytes(twice, std::vector<bool>(twice.size(), true))) / kMiB;
    std::vector<std::uint32_t> listed(twice.size());
    std::iota(listed.begin(), listed.end(), 0U);
    constexpr std::uint64_t kSteps = 12;
    double mean = 0;
    double largest = 0;
    double programme = 0;
    for (std::uint64_t i = 0; i <= kSteps; ++i) {
        const std::uint64_t capacity = (least + (most - least) * i / kSteps) * kMiB;
        const auto over_greedy = [&](const OffloadProblem& problem) {
            const OffloadChoice choice = retain_optimally(problem, capacity, kMebibytes);
            const auto greedy = first_fit(twice, capacity, listed).value();
            return 100 * (static_cast<double>(retained_bytes(problem, choice.retained)) /
                              static_cast<double>(retained_bytes(twice, greedy)) -
                          1);
        };
        const double gain = over_greedy(window);
        mean += gain / (kSteps + 1);
        largest = std::max(largest, gain);
        programme = std::max(programme, over_greedy(twice));
    }
    EXPECT_NEAR(mean, 12.9, 0.05);
    EXPECT_NEAR(largest, 23.9, 0.05);
    EXPECT_LT(programme, 9);
    EXPECT_GE(largest, 20);
}

}  // namespace
}  // namespace switchfold::published_pins_test
