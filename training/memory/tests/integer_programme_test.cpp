// SPDX-License-Identifier: Apache-2.0
#include "training/memory/access/network_schedule.h"
#include "training/memory/offload/optimal.h"
#include "training/network/zoo/zoo.h"
#include "workloads/tests/temporary_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace switchfold::integer_programme_test {
namespace {

constexpr std::uint64_t kMiB = 1U << 20U;

/// The same problem as an integer programme in CPLEX's LP format: x retains a candidate, and P is
/// what the fullest window holds. Sizes are in MiB.
std::string integer_programme(const OffloadProblem& problem, std::uint64_t capacity) {
    const auto megs = [](std::uint64_t bytes) { return bytes / kMiB; };
    std::string text = "Maximize\n obj: ";
    for (std::size_t i = 0; i < problem.size(); ++i)
        text += fmt::format("+ {} x{}\n", megs(problem.bytes[i]) * problem.copies[i], i);
    text += "Subject To\n room: ";
    for (std::size_t i = 0; i < problem.size(); ++i)
        text += fmt::format("+ {} x{}\n", megs(problem.bytes[i]), i);
    text += fmt::format("+ {} P <= {}\n", problem.factor, megs(capacity));
    for (std::size_t w = 0; w < problem.windows.size(); ++w) {
        std::uint64_t all = megs(problem.windows[w].fixed);
        std::string row;
        for (const std::uint32_t c : problem.windows[w].candidates) {
            all += megs(problem.bytes[c]);
            row += fmt::format(" + {} x{}", megs(problem.bytes[c]), c);
        }
        text += fmt::format(" w{}: P{} >= {}\n", w, row, all);
    }
    text += "Binary\n";
    for (std::size_t i = 0; i < problem.size(); ++i)
        text += fmt::format(" x{}\n", i);
    return text + "End\n";
}

/// The optimum that CBC proves, in MiB saved. Empty if CBC does not report "Optimal".
std::optional<double> by_cbc(const OffloadProblem& problem, std::uint64_t capacity) {
    const test_data::TemporaryFile model("plan.lp", integer_programme(problem, capacity));
    const test_data::TemporaryFile answer("plan.txt", "");
    const std::string command = fmt::format(
        "timeout 120 cbc {} ratioGap 0 solve solu {} > /dev/null 2>&1", model.path().string(),
        answer.path().string());
    if (std::system(command.c_str()) != 0)
        return {};
    std::ifstream file(answer.path());
    std::string line;
    std::getline(file, line);  // "Optimal - objective value 123.0"
    const std::size_t at = line.rfind(' ');
    if (!line.starts_with("Optimal") || at == std::string::npos)
        return {};
    return std::abs(std::stod(line.substr(at)));
}

struct Named {
    std::string name;
    std::uint32_t batch;
    Staging staging;
    double share;  ///< of all candidates, on top of the least capacity
};

void PrintTo(const Named& named, std::ostream* out) {
    *out << named.name;
}

class IntegerProgramme : public ::testing::TestWithParam<Named> {};

TEST_P(IntegerProgramme, HasTheSameOptimum) {
    if (std::system("command -v cbc > /dev/null 2>&1") != 0)
        GTEST_SKIP() << "no cbc (Debian's coinor-cbc)";
    const Named& named = GetParam();
    NetworkScheduleOptions options;
    options.batch = named.batch;
    options.update_in_backward = true;
    options.moments = 4;
    TensorUses schedule = network_schedule(*find_network(named.name), options);
    for (MemoryItem& item : schedule.items)
        item.bytes = (item.bytes + kMiB - 1) / kMiB * kMiB;
    const OffloadProblem problem = offload_problem(schedule, named.staging);
    const std::uint64_t least = least_capacity(problem).bytes;
    const auto more = static_cast<std::uint64_t>(
        named.share * static_cast<double>(problem.total()) / static_cast<double>(kMiB));
    const std::uint64_t capacity = least + more * kMiB;
    const OffloadChoice choice = retain_optimally(problem, capacity, {kMiB});
    ASSERT_EQ(choice.refusal, "");
    EXPECT_TRUE(choice.certificate.optimal);
    const auto proved = by_cbc(problem, capacity);
    ASSERT_TRUE(proved.has_value());
    EXPECT_DOUBLE_EQ(
        static_cast<double>(saved_bytes(problem, choice.retained)) / static_cast<double>(kMiB),
        *proved);
}

INSTANTIATE_TEST_SUITE_P(
    Networks, IntegerProgramme,
    ::testing::Values(
        Named{"alexnet", 256, Staging::kDoublePeak, 0.2},
        Named{"alexnet", 256, Staging::kWindow, 0.1},
        Named{"vgg16", 64, Staging::kDoublePeak, 0.15}, Named{"vgg16", 64, Staging::kWindow, 0.05},
        Named{"resnet18", 64, Staging::kWindow, 0.3},
        Named{"unet_416x608", 8, Staging::kWindow, 0.1},
        Named{"gpt2_small", 4, Staging::kSingle, 0.3},
        Named{"gnmt_4layer", 64, Staging::kWindow, 0.2}),
    [](const auto& named) {
        return named.param.name + "_" + std::string(name_of(named.param.staging));
    });

}  // namespace
}  // namespace switchfold::integer_programme_test
