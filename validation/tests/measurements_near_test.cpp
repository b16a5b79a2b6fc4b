// SPDX-License-Identifier: Apache-2.0
#include "validation/collectives/measurements_near.h"

#include "core/tests/temporary_folder.h"
#include "sim/config/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

namespace switchfold::validation::measurements_near_test {
namespace {

constexpr std::string_view kRows =
    "id,collective,gpu,n_gpus,n_nodes,interconnect,size_bytes,time_us\n"
    "eight,send_receive,NVIDIA H100 80GB HBM3,8,1,HGX NVSwitch,1048576,30\n"
    "eight,send_receive,NVIDIA H100 80GB HBM3,8,1,HGX NVSwitch,2097152,50\n"
    "again,send_receive,NVIDIA H100 80GB HBM3,8,1,HGX NVSwitch,1048576,31\n"
    "four,send_receive,NVIDIA H100 80GB HBM3,4,1,HGX NVSwitch,1048576,29\n"
    "older,send_receive,NVIDIA A100-SXM4-80GB,8,1,NVSwitch,1048576,60\n"
    "no_time,broadcast,NVIDIA H100 80GB HBM3,8,1,HGX NVSwitch,1048576,\n";

const MeasuredOperation& of(const std::vector<MeasuredOperation>& operations, CollectiveKind kind) {
    return *std::find_if(operations.begin(), operations.end(), [&](const MeasuredOperation& one) {
        return one.kind == kind;
    });
}

SystemParams hgx_h100() {
    return load_any_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/hgx_h100.json", {});
}

/// Rows of other machines and of fewer GPUs are none of the system's; a row without a time is none
/// at all.
TEST(MeasurementsNear, CountsTheRowsOfTheWholeSystemWithinAFactorOfTwo) {
    const Machines machines(SWITCHFOLD_SOURCE_DIR);
    const std::vector<MeasuredRow> rows = parse_collective_tables(kRows, "rows.csv");
    const std::array<std::uint64_t, 3> sizes{256 << 10, 1 << 20, 4 << 20};
    const auto found = measurements_near(rows, machines, hgx_h100(), sizes);
    const MeasuredOperation& sent = of(found, CollectiveKind::kSendReceive);
    EXPECT_EQ(sent.near, (std::vector<std::uint32_t>{0, 3, 1}));
    EXPECT_EQ(sent.tables, (std::vector<std::string>{"eight", "again"}));
    EXPECT_TRUE(of(found, CollectiveKind::kBroadcast).tables.empty());
}

TEST(MeasurementsNear, TheTextSaysWhereThereIsNone) {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.path() / "reference");
    for (const char* const table : {"nccl_allreduce", "nccl_collectives", "nccl_issues"})
        std::ofstream(folder.path() / "reference" / (std::string(table) + ".csv")) << kRows;
    const std::string text = describe_measurements(
        hgx_h100(), Machines(SWITCHFOLD_SOURCE_DIR), SWITCHFOLD_SOURCE_DIR, folder.path());
    EXPECT_NE(text.find("of all 8 GPUs"), std::string::npos) << text;
    EXPECT_NE(
        text.find("  send_receive      -    -    -    -    -    9    3    -    -    -    -    -  "
                  "from eight, again"),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("  broadcast      no measurement\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace switchfold::validation::measurements_near_test
