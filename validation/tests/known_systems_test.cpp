// SPDX-License-Identifier: Apache-2.0
#include "validation/known/known_systems.h"

#include "core/tests/temporary_folder.h"
#include "sim/config/load.h"

#include <gtest/gtest.h>

#include <fstream>

namespace switchfold::validation::known_systems_test {
namespace {

SystemParams shipped(const std::string& name) {
    return load_any_system(
        std::string(SWITCHFOLD_SOURCE_DIR "/configs/systems/") + name + ".json", {});
}

/// Measurements of an HGX H100 and of its GPU, and none of anything else: what ships is hidden by
/// files of the same names.
class KnownSystemsTest : public ::testing::Test {
protected:
    KnownSystemsTest() {
        std::filesystem::create_directories(folder_.path() / "reference/training");
        for (const char* name :
             {"nccl_collectives", "nccl_issues", "low_sm", "copy_engines", "expert_exchanges",
              "hopper_contention"})
            write(name, "id,gpu,interconnect,n_gpus,n_nodes\n");
        write(
            "nccl_allreduce",
            "id,gpu,interconnect,n_gpus,n_nodes,nccl_version,source\n"
            "one,NVIDIA H100 80GB HBM3,HGX NVSwitch,8,1,2.18.3,a log of 2023-11-02\n"
            "one,NVIDIA H100 80GB HBM3,HGX NVSwitch,4,1,2.18.3,\n"
            "two,NVIDIA H100 80GB HBM3,HGX NVSwitch,8,1,2.22.3,\"issue, 2024-05\"\n"
            "other,NVIDIA Z900,unheard of,8,1,,\n");
        for (const char* name : {"training/training_steps", "training/training_steps_public"})
            write(name, "id,gpu,interconnect,n_gpus,n_nodes\n");
        for (const char* name :
             {"gemm_on_gpus", "attention", "attention_on_gpus", "flash_attention"})
            write(name, "gpu,dtype\n");
        write("gemm", "gpu,dtype\nNVIDIA H100 80GB HBM3,float16\n");
    }
    void write(const std::string& name, const char* text) const {
        std::ofstream(folder_.path() / "reference" / (name + ".csv")) << text;
    }
    [[nodiscard]] KnownSystems known() const {
        return {Machines(SWITCHFOLD_SOURCE_DIR), SWITCHFOLD_SOURCE_DIR, folder_.path()};
    }

private:
    TemporaryFolder folder_;
};

TEST_F(KnownSystemsTest, CountsRowsTablesVersionsAndDates) {
    const KnownSystems found = known();
    const auto& kinds = found.of_system("hgx_h100");
    ASSERT_EQ(kinds.size(), 1U);
    EXPECT_EQ(kinds.at("collectives").rows, 3U);
    const std::string text = describe_known(shipped("hgx_h100"), found);
    EXPECT_NE(
        text.find("  collectives                  3 rows of 2 tables, 4 to 8 GPUs, NCCL 2.18.3 to "
                  "2.22.3, 2023-11 to 2024-05\n"),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("  kernels of H100              1 row of 1 table\n"), std::string::npos)
        << text;
    EXPECT_NE(summary_of_known(found).find("3 rows on 1 of "), std::string::npos);
}

TEST_F(KnownSystemsTest, SaysWhereThePartsOfOthersWereMeasured) {
    const KnownSystems found = known();
    const std::string same_gpu = describe_known(shipped("h100_4gpu"), found);
    EXPECT_NE(
        same_gpu.find("nothing was measured on this system; its GPU was on hgx_h100 (3 rows)"),
        std::string::npos)
        << same_gpu;
    const std::string none = describe_known(shipped("k40_ethernet"), found);
    EXPECT_NE(
        none.find("nothing was measured on this system, nor on another with its GPU"),
        std::string::npos)
        << none;
    EXPECT_NE(none.find("its GPU's kernels were not measured"), std::string::npos) << none;
    EXPECT_NE(
        table_of_known(found).find("k40_ethernet                 not measured\n"),
        std::string::npos);
}

}  // namespace
}  // namespace switchfold::validation::known_systems_test
