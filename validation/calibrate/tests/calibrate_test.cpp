// SPDX-License-Identifier: Apache-2.0
#include "validation/calibrate/calibrate.h"

#include "core/error.h"
#include "core/tests/temporary_folder.h"
#include "sim/config/changed_system.h"
#include "sim/config/load.h"
#include "sim/intervals/residuals.h"
#include "sim/pool/value_jobs.h"
#include "validation/collectives/benchmark_loop.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace switchfold::calibrate_test {
namespace {

using namespace validation;  // NOLINT(google-build-using-namespace): what is tested

const std::filesystem::path kRoot = SWITCHFOLD_SOURCE_DIR;
const std::filesystem::path kSystem = kRoot / "configs/systems/h100_4gpu.json";

void run_two(std::span<const Job> jobs, const JobEnded& ended) {
    run_jobs(jobs, 2, {}, ended);
}

CalibrationOptions options() {
    return {run_two, [] { return 0.0; }, [](const CalibrationPlan&) {}};
}

/// A folder that is gone with the test.
class Folder {
public:
    [[nodiscard]] std::filesystem::path
    write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_.path() / name) << text;
        return folder_.path() / name;
    }

private:
    TemporaryFolder folder_;
};

std::vector<std::uint64_t> sizes() {
    std::vector<std::uint64_t> all;
    for (std::uint64_t bytes = 4096; bytes <= 64U << 20U; bytes *= 2)
        all.push_back(bytes);
    return all;
}

/// What 4 GPUs of the changed system take, us.
std::vector<double> simulated(CollectiveKind kind, std::span<const Override> changes) {
    PlannedRun run;
    run.system = changed_system(load_system(kSystem, {}), changes);
    run.ranks = 4;
    run.kind = kind;
    std::vector<Job> jobs;
    for (const std::uint64_t bytes : sizes()) {
        run.bytes = Bytes(bytes);
        jobs.push_back({"", [run](const JobProgress&) {
                            return value_bytes(time_planned(run, CollectivePolicy{}, {}).us);
                        }});
    }
    return values_of<double>(jobs, run_two);
}

std::string log_of(const char* test, const std::vector<double>& times) {
    std::string text = fmt::format(
        "# Collective test starting: {}_perf\n"
        "# nThread 4 nGpus 1 minBytes 4096 maxBytes 67108864 step: 2(factor) graph: 1\n",
        test);
    for (int rank = 0; rank < 4; ++rank)
        text += fmt::format(
            "#  Rank  {} Group  0 Pid   71 on   host device  {} [0x17] NVIDIA H100 80GB HBM3\n",
            rank, rank);
    text +=
        "#       size         count      type   redop    root     time   algbw   busbw #wrong\n";
    for (std::size_t i = 0; i < times.size(); ++i) {
        const auto bytes = static_cast<double>(sizes()[i]);
        const double bandwidth = bytes / times[i] * 1e-3;
        text += fmt::format(
            "{:>12} {:>13} float sum -1 {:.2f} {:.3f} {:.3f} 0\n", sizes()[i], sizes()[i] / 4,
            times[i], bandwidth, bandwidth * 1.5);
    }
    return text + "# Avg bus bandwidth    : 100\n";
}

CalibrationData data_of(std::vector<std::filesystem::path> files) {
    CalibrationData data;
    data.system = kSystem;
    data.root = kRoot;
    data.files = std::move(files);
    return data;
}

const CalibratedKnob& knob(const Calibration& calibration, std::string_view name) {
    for (const CalibratedKnob& knob : calibration.knobs)
        if (knob.dial.knob->name == name)
            return knob;
    throw std::out_of_range(std::string(name));
}

std::string refusal(const CalibrationData& data) {
    try {
        static_cast<void>(calibrate(data, options()));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "accepted";
}

/// Logs of a machine that differs in two parameters give them back.
TEST(Calibrate, FindsTheParametersThatMadeTheLogs) {
    const std::vector<Override> truth{
        {"/topology/link/efficiency_ppm", 790'000},
        {"/collectives/launch_latency", "7 us"},
        {"/collectives/launch_spread", "824 ns"}};  // one knob: the same factor
    const Folder folder;
    const CalibrationData data = data_of({folder.write(
        "all_reduce.txt", log_of("all_reduce", simulated(CollectiveKind::kAllReduce, truth)))});
    const Calibration done = calibrate(data, options());
    ASSERT_EQ(done.verdict, CalibrationVerdict::kBetter) << to_text(done);
    EXPECT_NEAR(std::exp(knob(done, "links between GPUs").logarithm), 790.0 / 871, 0.02);
    EXPECT_NEAR(std::exp(knob(done, "launch").logarithm), 7 / 5.1, 0.02 * 7 / 5.1);
    EXPECT_GT(done.left_out.before, 0.05);
    EXPECT_LT(done.left_out.after, 0.02);
    EXPECT_FALSE(knob(done, "in-switch latencies").told);

    // What is written is a system, with what was found and a source beside it.
    const std::filesystem::path out = folder.write("mine.json", "");
    const std::string text = overlay_text(done, data, out);
    std::ofstream(out) << text;
    const SystemParams read = load_system(out, {});
    EXPECT_EQ(read.name, "mine");
    EXPECT_EQ(
        system_json(read)["topology"]["link"]["efficiency_ppm"].get<double>(),
        done.knobs.front().dial.parameters.front().at(std::exp(done.knobs.front().logarithm)));
    const Json written = parse_json(text, "mine.json");
    EXPECT_NE(
        written["topology"]["link"]["$source"]["efficiency_ppm"].get<std::string>().find(
            "fitted by switchfold calibrate on all_reduce.txt"),
        std::string::npos);
    EXPECT_FALSE(written.contains("gpu"));

    // The left-out half becomes what intervals on this machine are drawn from.
    const intervals::Residuals own =
        intervals::Residuals::parse(own_residuals_text(done, data), "mine.residuals.csv");
    EXPECT_EQ(own.all().size(), done.left_out.points);
    for (const intervals::Residual& r : own.all()) {
        EXPECT_EQ(r.of.operation, "all_reduce");
        EXPECT_EQ(r.of.ranks, 4U);
        EXPECT_EQ(r.of.generation, "Hopper");
        EXPECT_LT(std::abs(r.log_ratio), 0.05);
    }
}

TEST(Calibrate, LearnsNothingFromWhatItKnows) {
    const Folder folder;
    const Calibration done = calibrate(
        data_of({folder.write(
            "all_gather.txt", log_of("all_gather", simulated(CollectiveKind::kAllGather, {})))}),
        options());
    EXPECT_EQ(done.verdict, CalibrationVerdict::kNothing);
    EXPECT_LT(done.left_out.before, 0.01);
    EXPECT_NE(to_text(done).find("nothing is written"), std::string::npos);
}

/// Sizes that are fitted are slow, those between them quick: no machine is both.
TEST(Calibrate, ContradictoryDataAreRefused) {
    std::vector<double> times = simulated(CollectiveKind::kAllReduce, {});
    for (std::size_t i = 0; i < times.size(); i += 2)
        times[i] *= 1.5;
    const Folder folder;
    const Calibration done =
        calibrate(data_of({folder.write("odd.txt", log_of("all_reduce", times))}), options());
    EXPECT_EQ(done.verdict, CalibrationVerdict::kUnexplained);
    EXPECT_GT(done.left_out.after, done.left_out.before + kWorseAllowed);
    EXPECT_NE(to_text(done).find("no parameter set explains the data"), std::string::npos);
}

/// All-reduces from 256 KiB on are twice as slow as the links, all-gathers are not.
TEST(Calibrate, OperationsThatContradictEachOther) {
    std::vector<double> slow = simulated(CollectiveKind::kAllReduce, {});
    for (std::size_t i = 6; i < slow.size(); ++i)
        slow[i] *= 2;
    const Folder folder;
    const Calibration done = calibrate(
        data_of(
            {folder.write("reduce.txt", log_of("all_reduce", slow)),
             folder.write(
                 "gather.txt", log_of("all_gather", simulated(CollectiveKind::kAllGather, {})))}),
        options());
    EXPECT_EQ(done.verdict, CalibrationVerdict::kUnexplained) << to_text(done);
    EXPECT_NE(to_text(done).find("  all_reduce of 4 GPUs from 1 MiB: "), std::string::npos)
        << to_text(done);
}

TEST(Calibrate, NoGroupPaysForAnother) {
    const auto group = [](std::size_t points, double before, double after) {
        return GroupErrors{"all_gather of 2 GPUs", true, true, 0.12, {}, {points, before, after}};
    };
    EXPECT_TRUE(group(4, 0.08, 0.25).paid());
    EXPECT_FALSE(group(4, 0.08, 0.11).paid());    // still usual
    EXPECT_FALSE(group(4, 0.30, 0.32).paid());    // was far off before
    EXPECT_FALSE(group(4, 0.115, 0.123).paid());  // less than a point
    EXPECT_FALSE(group(1, 0.08, 0.25).paid());    // a single row
    Calibration traded;
    traded.groups = {group(4, 0.08, 0.25)};
    traded.verdict = CalibrationVerdict::kUnexplained;
    EXPECT_NE(
        to_text(traded).find(
            "what brings others nearer takes all_gather of 2 GPUs from 1 MiB from 8 to 25 %"),
        std::string::npos)
        << to_text(traded);
}

TEST(Calibrate, AFitThatLeavesMuchFarOffExplainsNothing) {
    const auto group = [](std::size_t points, double after) {
        return GroupErrors{"all_gather of 4 GPUs", true, true, 0.12, {}, {points, 0.8, after}};
    };
    Calibration calibration;
    calibration.groups = {group(9, 0.05), group(3, 0.5)};
    EXPECT_TRUE(much_is_far(calibration));
    calibration.groups = {group(10, 0.05), group(3, 0.5)};
    EXPECT_FALSE(much_is_far(calibration));
    calibration.groups = {group(1, 0.05), group(3, 0.2)};  // off, but less than twice the usual
    EXPECT_FALSE(much_is_far(calibration));
}

TEST(Calibrate, ImpossibleRowsAreLeftOut) {
    std::vector<double> times = simulated(CollectiveKind::kAllGather, {});
    times.back() = 1;  // 64 MiB in a microsecond
    const Folder folder;
    const Calibration done =
        calibrate(data_of({folder.write("log.txt", log_of("all_gather", times))}), options());
    ASSERT_EQ(done.data.left_out.size(), 1U);
    EXPECT_NE(
        done.data.left_out.front().why.find("is faster than the links of"), std::string::npos);
}

TEST(Calibrate, CopiesTellTheHostsLink) {
    std::string table = "copy,size_bytes,time_us\n";
    for (std::uint64_t bytes = 1U << 20U; bytes <= 256U << 20U; bytes *= 2)
        table += fmt::format("host_to_device,{},{}\n", bytes, static_cast<double>(bytes) / 44e3);
    table += "host_to_device,many,1\n";
    const Folder folder;
    const Calibration done = calibrate(data_of({folder.write("copies.csv", table)}), options());
    EXPECT_EQ(done.verdict, CalibrationVerdict::kBetter);
    EXPECT_NEAR(std::exp(knob(done, "copies from the host").logarithm), 44 / 55.4, 0.02);
    EXPECT_EQ(done.data.left_out.size(), 1U);
}

/// Products that take as long as a GPU of a lower sustained rate would: others of the table are of
/// another GPU, and one is faster than any.
TEST(Calibrate, ProductsTellTheMatrixRate) {
    std::string table = "gpu,dtype,m,n,k,time_us\n";
    for (int side = 2048; side <= 16384; side += 1024) {
        const double flops = 2.0 * side * side * side;
        table += fmt::format(
            "NVIDIA H100 80GB HBM3,bfloat16,{0},{0},{0},{1:.2f}\n", side, flops / 600e6);
    }
    table += "NVIDIA H100 80GB HBM3,bfloat16,8192,8192,8192,1\n"
             "NVIDIA A100-SXM4-80GB,bfloat16,8192,8192,8192,5000\n";
    const Folder folder;
    const Calibration done = calibrate(data_of({folder.write("gemm.csv", table)}), options());
    EXPECT_EQ(done.verdict, CalibrationVerdict::kBetter) << to_text(done);
    EXPECT_LT(std::exp(knob(done, "sustained matrix rate").logarithm), 0.95);
    EXPECT_LT(done.left_out.after, 0.6 * done.left_out.before);
    ASSERT_EQ(done.data.left_out.size(), 1U);
    EXPECT_NE(done.data.left_out.front().why.find("TFLOP/s is more than the"), std::string::npos);
    ASSERT_EQ(done.data.notes.size(), 1U);
}

TEST(Calibrate, BadInputIsRefused) {
    const Folder folder;
    EXPECT_NE(
        refusal(data_of({folder.write("x", "").parent_path() / "none.txt"})).find("none.txt"),
        std::string::npos);
    EXPECT_NE(
        refusal(data_of({folder.write("t.csv", "a,b\n1,2\n")}))
            .find("is not a table that is known"),
        std::string::npos);
    // Rows of another machine, by their columns.
    const auto other = folder.write(
        "other.csv",
        "id,gpu,interconnect,n_gpus,size_bytes,time_us\n"
        "mi,AMD Instinct MI300X,xGMI,8,1048576,50\nmi,AMD Instinct MI300X,xGMI,8,4194304,90\n");
    EXPECT_NE(refusal(data_of({other})).find("--table NAME"), std::string::npos);
    // More GPUs than the system has.
    CalibrationData named = data_of({other});
    named.tables = {"mi"};
    EXPECT_NE(refusal(named).find("cannot run what mi measured"), std::string::npos);
}

}  // namespace
}  // namespace switchfold::calibrate_test
