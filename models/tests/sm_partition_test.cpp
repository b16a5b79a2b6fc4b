// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm_partition.h"

#include "core/error.h"
#include "core/kernel/simulation.h"
#include "models/gpu/gpu.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <utility>
#include <vector>

namespace switchfold::sm_partition_test {
namespace {

const BlockShape kCommunication{544, 96, Bytes(0)};  // one block fits on an SM

TEST(SmPartition, WithoutOneAllSmsAreShared) {
    SmPartition sms({}, 100, 0);
    EXPECT_EQ(&sms.compute(), &sms.communication());
    EXPECT_EQ(sms.compute().sms(), 100U);
}

TEST(SmPartition, LeavesComputeTheRest) {
    SmPartition sms({}, 100, 8);
    EXPECT_EQ(sms.compute().sms(), 92U);
    EXPECT_EQ(sms.communication().sms(), 8U);
    // Kernels may also keep all SMs, to find what the partition costs.
    SmPartition beside({}, 100, 8, false);
    EXPECT_EQ(beside.compute().sms(), 100U);
    EXPECT_EQ(beside.communication().sms(), 8U);
    EXPECT_THROW(SmPartition({}, 100, 100), InternalError);
}

/// Whatever blocks come and go, communication never holds more than its SMs, kernels never more
/// than the rest, and neither takes room from the other.
RC_GTEST_PROP(SmPartition, IsNeverShared, ()) {
    const auto all = *rc::gen::inRange(2U, 140U);
    const auto own = *rc::gen::inRange(1U, all);
    SmPartition sms({}, all, own);
    const BlockShape compute{
        *rc::gen::inRange(1U, 1025U), *rc::gen::inRange(0U, 64U),
        Bytes(*rc::gen::inRange(0, 65536))};
    const std::uint64_t most_compute = std::uint64_t{sms.compute().limit(compute)} * (all - own);
    const std::uint64_t most_own = std::uint64_t{sms.communication().limit(kCommunication)} * own;
    std::vector<std::pair<bool, Placement>> held;
    std::uint64_t computing = 0;
    std::uint64_t communicating = 0;
    for (const auto step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(-200, 200))) {
        if (step < 0 && !held.empty()) {
            const auto [kernel, placement] = held.back();
            held.pop_back();
            (kernel ? computing : communicating) -= placement.blocks;
            (kernel ? sms.compute() : sms.communication())
                .release(kernel ? compute : kCommunication, placement);
            continue;
        }
        const bool kernel = step % 2 == 0;
        const auto wanted = static_cast<std::uint64_t>(std::abs(step));
        std::uint64_t& has = kernel ? computing : communicating;
        const std::uint64_t room = (kernel ? most_compute : most_own) - has;
        Placement placement = (kernel ? sms.compute() : sms.communication())
                                  .place(kernel ? compute : kCommunication, wanted);
        RC_ASSERT(placement.blocks == std::min(wanted, room));
        has += placement.blocks;
        held.emplace_back(kernel, std::move(placement));
        RC_ASSERT(sms.busy_sms() <= all);
    }
}

/// A GPU with SMs set aside for communication, which runs a kernel beside communication blocks.
class Bench : KernelListener, BlocksListener {
public:
    explicit Bench(std::uint32_t communication_sms, bool sm = true) :
        gpu("gpu", params(), contention(sm), simulation.scheduler(), communication_sms) {}
    static GpuParams params() {
        GpuParams gpu;
        gpu.sms = 100;
        gpu.kernel_overhead = Time(0);
        return gpu;
    }
    static Contention contention(bool sm) {
        Contention contention;
        contention.sm = sm;
        return contention;
    }
    /// Runs a kernel of `blocks` blocks, each of which fills an SM. Alone it takes 10 us.
    Time run(std::uint64_t blocks, std::uint32_t communication) {
        if (communication > 0)
            gpu.launch_resident(kCommunication, communication, 0, Bytes(0), *this);
        KernelLaunch kernel;
        kernel.shape = {1024, 64, Bytes(0)};
        kernel.blocks = blocks;
        kernel.isolated = microseconds(10);
        gpu.launch(kernel, *this);
        simulation.run();
        return ended;
    }
    Simulation simulation;
    Gpu gpu;
    Time ended;
    bool resident = false;

private:
    void on_kernel_end(std::uint32_t) override { ended = simulation.scheduler().now(); }
    void on_blocks_resident(std::uint64_t) override { resident = true; }
};

TEST(SmPartition, AKernelThatFitsTheRestLosesNothingToCommunication) {
    Bench bench(8);
    const Time beside = bench.run(92, 8);
    EXPECT_TRUE(bench.resident);
    EXPECT_EQ(beside, Bench(8).run(92, 0));
}

TEST(SmPartition, AKernelThatFillsTheGpuNeedsAnotherWaveAlsoWhenNothingCommunicates) {
    const Time alone = Bench(0).run(100, 0);
    EXPECT_EQ(alone, microseconds(10));
    EXPECT_GT(Bench(8).run(100, 0), alone + microseconds(3));
    EXPECT_EQ(Bench(8, false).run(100, 0), alone);  // the mechanism is off
}

TEST(SmPartition, CommunicationWaitsForItsOwnSmsAndNoOthers) {
    Bench bench(8);
    static_cast<void>(bench.run(1, 9));
    EXPECT_FALSE(bench.resident);
    EXPECT_EQ(bench.gpu.busy_sms(), 8U);
}

}  // namespace
}  // namespace switchfold::sm_partition_test
