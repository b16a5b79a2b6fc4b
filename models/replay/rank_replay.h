// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "models/collectives/collective_service.h"
#include "models/gpu/copy_engine.h"
#include "models/gpu/gpu.h"
#include "models/probe.h"
#include "models/replay/host_thread.h"
#include "models/replay/operation_times.h"
#include "workloads/graph/execution_graph.h"

#include <systemc>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace switchfold {

/// Runs one rank's operations: streams in order, dependencies, gaps; kernels on the GPU, copies on
/// the copy engine, collectives through the service. The graph is shared and read-only.
class RankReplay final : public sc_core::sc_module,
                         private EventHandler,
                         private KernelListener,
                         private CopyListener,
                         private CollectiveListener {
public:
    RankReplay(
        const sc_core::sc_module_name& name, std::uint32_t rank,
        std::shared_ptr<const RankGraph> graph, Gpu& gpu, CopyEngine& copies,
        CollectiveService& collectives, Scheduler& scheduler);

    /// The thread of delays that ranks share; before start(). Otherwise the rank has its own.
    void share(HostThread& thread) { host_ = &thread; }
    /// The probe hears of the rank's kernels. It must outlive the run.
    void attach(Probe& probe) { probes_.push_back(&probe); }
    /// Posts the first operations; call once before the run.
    void start();

    [[nodiscard]] std::uint32_t rank() const { return rank_; }
    [[nodiscard]] const RankGraph& graph() const { return *graph_; }
    [[nodiscard]] bool finished() const { return ended_ == graph_->operations.size(); }
    [[nodiscard]] const std::vector<OperationTimes>& times() const { return times_; }
    [[nodiscard]] std::size_t ended() const { return ended_; }
    /// Operations that could not start or end: index and reason, at most `limit`.
    struct Blocked {
        std::uint32_t operation;
        std::string_view why;
    };
    [[nodiscard]] std::vector<Blocked> blocked(std::size_t limit) const;

private:
    enum class State : std::uint8_t { kWaiting, kGap, kRunning, kEnded };
    void on_event(std::uint64_t tag) override;
    [[nodiscard]] InSkip in_skip() const override { return InSkip::kPasses; }
    void on_kernel_end(std::uint32_t id) override { end(id); }
    void on_copy_end(std::uint32_t id) override { end(id); }
    void on_collective_end(std::uint32_t operation) override { end(operation); }
    void ready(std::uint32_t operation);
    void run(std::uint32_t operation);
    void end(std::uint32_t operation);

    std::uint32_t rank_;
    std::shared_ptr<const RankGraph> graph_;
    Gpu& gpu_;
    CopyEngine& copies_;
    CollectiveService& collectives_;
    WorldClock clock_;
    HostThread own_;
    HostThread* host_ = &own_;
    std::vector<OperationTimes> times_;
    std::vector<State> states_;
    std::vector<std::uint32_t> waiting_for_;  ///< number of unfinished predecessors
    std::vector<std::uint32_t>
        first_successor_;  ///< index into successors_, with one past the end at the back
    std::vector<std::uint32_t> successors_;
    std::size_t ended_ = 0;
    std::vector<Probe*> probes_;
};

}  // namespace switchfold
