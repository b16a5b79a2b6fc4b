// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/nvtx/range.h"

#include <gtest/gtest.h>

namespace switchfold::nvtx_range_test {
namespace {

struct Meaning {
    const char* range;
    const char* category;
    const char* name;
    const char* dims = "";
};

class RangeMeaning : public ::testing::TestWithParam<Meaning> {};

TEST_P(RangeMeaning, IsUnderstood) {
    TraceEvent event;
    describe_range(GetParam().range, {}, event);
    EXPECT_EQ(event.category, GetParam().category);
    EXPECT_EQ(event.name, GetParam().name);
    EXPECT_EQ(event.input_dims, GetParam().dims);
}

INSTANTIATE_TEST_SUITE_P(
    Ranges, RangeMeaning,
    ::testing::Values(
        Meaning{
            "aten::mm, seq = 3, op_id = 7, sizes = [[8, 4], [4, 2], []], input_op_ids = [(1,0)]",
            "cpu_op", "aten::mm", "[[8, 4], [4, 2], []]"},
        Meaning{
            "aten::mm, seq = 3, sizes = [[2, 3], [3, 4]]", "cpu_op", "aten::mm",
            "[[2, 3], [3, 4]]"},
        Meaning{"aten::relu", "cpu_op", "aten::relu"},
        Meaning{"AddmmBackward0, seq = 5", "cpu_op", "AddmmBackward0"},
        Meaning{"AddmmBackward0", "cpu_op", "AddmmBackward0"},
        Meaning{
            "autograd::engine::evaluate_function: MmBackward0", "cpu_op",
            "autograd::engine::evaluate_function: MmBackward0"},
        Meaning{"aten::cat, sizes = [[1, 2], [3", "cpu_op", "aten::cat"},
        Meaning{"aten::cat, sizes = none", "cpu_op", "aten::cat"},
        Meaning{", sizes = [", "cpu_op", ""},
        Meaning{"Step 12", "user_annotation", "ProfilerStep#0"},
        Meaning{"iteration_3", "user_annotation", "ProfilerStep#0"},
        Meaning{"step 3: loss", "user_annotation", "ProfilerStep#0"},
        Meaning{"iteration", "user_annotation", "ProfilerStep#0"},
        Meaning{"ProfilerStep#4", "user_annotation", "ProfilerStep#0"},
        Meaning{"batch 7", "user_annotation", "ProfilerStep#0"},
        Meaning{"batch norm", "user_annotation", "batch norm"},
        Meaning{"step down", "user_annotation", "step down"},
        Meaning{"step 3d", "user_annotation", "step 3d"},
        Meaning{"stepping", "user_annotation", "stepping"},
        Meaning{"forward", "user_annotation", "## forward ##"},
        Meaning{"forward_3", "user_annotation", "## forward ##"},
        Meaning{"forwarding", "user_annotation", "forwarding"},
        Meaning{"Backward pass", "user_annotation", "## backward ##"},
        Meaning{"optimizer", "user_annotation", "## optimizer ##"},
        Meaning{"Optimizer.step#SGD.step", "user_annotation", "## optimizer ##"},
        Meaning{"nccl:all_reduce", "user_annotation", "nccl:all_reduce"},
        Meaning{"ncclAllReduce", "user_annotation", "nccl:AllReduce"},
        Meaning{"ncclAllReduce()", "user_annotation", "nccl:AllReduce"},
        Meaning{"ncclReduce", "user_annotation", "nccl:Reduce"},
        Meaning{"ncclSend", "user_annotation", "nccl:SendRecv"},
        Meaning{"ncclGroupEnd", "user_annotation", "ncclGroupEnd"},
        Meaning{"epoch, first", "user_annotation", "epoch, first"},
        Meaning{"", "user_annotation", ""}));

TEST(NvtxRange, ThePayloadOfACollectiveIsItsBytes) {
    TraceEvent event;
    describe_range("ncclAllGather", 4096, event);
    EXPECT_EQ(event.input_dims, "[[4096]]");
    EXPECT_EQ(event.input_types, R"(["Byte"])");
    TraceEvent other;
    describe_range("forward", 4096, other);
    EXPECT_EQ(other.input_dims, "");
}

}  // namespace
}  // namespace switchfold::nvtx_range_test
