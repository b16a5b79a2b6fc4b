// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/beside.h"

#include "core/error.h"
#include "core/kernel/simulation.h"
#include "models/collectives/engine.h"
#include "models/collectives/library.h"
#include "models/collectives/nccl/traced_kernel.h"
#include "models/gpu/kernel_launch.h"
#include "workloads/graph/collective.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>

namespace switchfold {

namespace {

/// One kernel and the communication beside it.
class Scene final : private KernelListener, private BlocksListener, private EventHandler {
public:
    Scene(const GpuParams& params, const std::vector<CommunicationPhase>& phases) :
        gpu_("gpu", params, Contention{}, simulation_.scheduler()), phases_(phases) {
        for (const CommunicationPhase& phase : phases_)
            lead_ = std::max(lead_, -phase.from_us);
    }

    Time run(const KernelOperation& kernel) {
        // A phase that is already active starts this much before the kernel, enough for rates to
        // settle over some windows.
        constexpr double kSettleUs = 20;
        lead_ = phases_.empty() ? 0 : std::min(lead_, kSettleUs);
        tickets_.resize(phases_.size());
        for (std::size_t i = 0; i < phases_.size(); ++i) {
            if (phases_[i].to_us + lead_ <= 0 || phases_[i].to_us <= phases_[i].from_us)
                continue;
            post(std::max(0.0, phases_[i].from_us + lead_), i, Kind::kBegin);
            post(std::max(0.0, phases_[i].to_us + lead_), i, Kind::kEnd);
        }
        launch_ = launch_of(0, kernel, 0);
        post(lead_, 0, Kind::kLaunch);
        simulation_.run();
        return ended_ - launched_;
    }

private:
    enum class Kind : std::uint8_t { kBegin, kEnd, kPacket, kLaunch };
    static constexpr std::uint64_t kKinds = 4;

    [[nodiscard]] static Time at(double us) { return Time(static_cast<std::uint64_t>(us * 1e6)); }
    void post(double us, std::size_t phase, Kind kind) {
        simulation_.scheduler().at(
            at(us), *this, phase * kKinds + static_cast<std::uint64_t>(kind));
    }

    void on_event(std::uint64_t tag) override {
        const std::size_t phase = tag / kKinds;
        switch (static_cast<Kind>(tag % kKinds)) {
        case Kind::kBegin:
            return begin(phase);
        case Kind::kEnd:
            return end(phase);
        case Kind::kPacket:
            return packet(phase);
        case Kind::kLaunch:
            launched_ = simulation_.scheduler().now();
            return gpu_.launch(launch_, *this);
        }
    }

    void begin(std::size_t index) {
        const CommunicationPhase& phase = phases_[index];
        if (done_)
            return;
        if (phase.blocks > 0)
            tickets_[index] = gpu_.launch_resident(
                {phase.threads, phase.registers_per_thread, phase.shared_memory}, phase.blocks, 0,
                phase.footprint, *this, phase.exchange);
        if (phase.bytes_per_second > 0)
            packet(index);
    }

    void end(std::size_t index) {
        moving_.erase(index);
        if (auto& ticket = tickets_[index]; ticket != 0)
            gpu_.retire_resident(std::exchange(ticket, 0));
    }

    /// Issues the collective's bytes of half a microsecond, unless the memory lags behind by more
    /// than the collective would keep in flight.
    void packet(std::size_t index) {
        const CommunicationPhase& phase = phases_[index];
        const Time now = simulation_.scheduler().now();
        if (done_ || now >= at(phase.to_us + lead_))
            return;
        constexpr std::uint64_t kInterval = 500'000;
        constexpr std::uint64_t kUnderWay = 4 * kInterval;
        const auto bytes = static_cast<std::uint64_t>(phase.bytes_per_second * 1e-12 * kInterval);
        Time& served = moving_[index];
        if (served.count() < now.count() + kUnderWay)
            served = gpu_.memory().access(bytes / 2, bytes - bytes / 2);
        simulation_.scheduler().after(
            Time(kInterval), *this, index * kKinds + static_cast<std::uint64_t>(Kind::kPacket));
    }

    void on_kernel_end(std::uint32_t /*id*/) override {
        ended_ = simulation_.scheduler().now();
        done_ = true;
    }
    void on_blocks_resident(std::uint64_t /*ticket*/) override {}

    Simulation simulation_;
    Gpu gpu_;
    const std::vector<CommunicationPhase>& phases_;
    KernelLaunch launch_;
    std::vector<std::uint64_t> tickets_;
    std::map<std::size_t, Time> moving_;  ///< when the phase's requests so far are served
    double lead_ = 0;                     ///< us before the launch
    Time launched_;
    Time ended_;
    bool done_ = false;
};

Protocol protocol_of(const CollectiveOperation& operation) {
    for (const auto& [protocol, name] : EnumNames<Protocol>::kNames)
        if (name == operation.protocol.text())
            return protocol;
    return Protocol::kAuto;
}

/// A memory statistic of the first rank.
double memory_of_first(const Outcome& outcome, std::string_view name) {
    const StatisticTable* memory = find_table(outcome.statistics, "memory");
    SWITCHFOLD_CHECK(memory != nullptr, "a run without statistics of memory");
    const std::size_t column = memory->column(name);
    // Of what moves nothing there is no row.
    return memory->rows.empty() ? 0 : memory->rows.front().values[column];
}

/// A collective, and who takes part.
struct Alone {
    CollectiveOperation operation;
    std::vector<std::uint32_t> ranks;
    const UnevenExchange* parts = nullptr;
};

/// One collective on an idle machine.
Outcome run_alone(
    const SystemParams& system, const Alone& alone, const CollectivePolicy& policy,
    const SimulateOptions& options) {
    CollectiveOperation operation = alone.operation;
    ExecutionGraph graph = single_collective(
        operation.kind, operation.bytes, operation.datatype, alone.ranks.back() + 1);
    operation.group = 0;
    operation.sequence = 0;
    operation.exchange = alone.parts != nullptr ? 1 : 0;
    if (alone.parts != nullptr)
        graph.exchanges = {*alone.parts};
    auto rank = std::make_shared<RankGraph>(*graph.ranks.front());
    rank->operations.front().body = operation;
    auto idle = std::make_shared<RankGraph>();
    idle->streams = rank->streams;
    graph.groups.front().ranks = alone.ranks;
    graph.ranks.assign(alone.ranks.back() + 1, idle);
    for (const std::uint32_t member : alone.ranks)
        graph.ranks[member] = rank;
    return simulate(system, graph, policy, options);
}

/// Rings with the blocks and the protocol of the operation.
CollectivePolicy policy_of(const CollectiveOperation& operation) {
    CollectivePolicy policy = ring_policy();
    policy.protocol = protocol_of(operation);
    if (traced_with_rings(operation))
        policy.channels = operation.thread_blocks;
    return policy;
}

/// From the last rank's arrival to the end.
Time time_of(const Outcome& alone) {
    const CollectiveRecord& record = alone.collectives.front();
    return record.end - record.ready;
}

CollectiveOperation as_traced(CollectiveOperation operation, std::uint32_t ranks) {
    constexpr std::uint64_t kKibi = 1024;
    const std::uint64_t grain = kKibi * ranks;
    operation.protocol = protocol_by_threads(operation);
    operation.bytes = Bytes((operation.bytes.count() + grain - 1) / grain * grain);
    return operation;
}

/// From the arrival of the last of several ranks, if that is late.
TransferTime times_of(
    const SystemParams& system, Alone alone, const Outcome& together,
    const CollectivePolicy& policy, const SimulateOptions& options) {
    TransferTime times{time_of(together), time_of(together)};
    if (alone.operation.kind == CollectiveKind::kAllToAll &&
        !together.collectives.front().as_traced) {
        // A late rank finds that the others have exchanged what they could.
        alone.operation.peers_late = times.whole * 2;
        times.after_last = time_of(run_alone(system, alone, policy, options));
    }
    return times;
}

}  // namespace

CollectiveTraffic traffic_of(
    const SystemParams& system, const CollectiveOperation& operation,
    const std::vector<std::uint32_t>& ranks, const SimulateOptions& options,
    const UnevenExchange* parts) {
    Alone punctual{operation, ranks, parts};
    punctual.operation.peers_late = Time();
    const CollectivePolicy policy = policy_of(operation);
    const Outcome alone = run_alone(system, punctual, policy, options);
    const TransferTime times = times_of(system, punctual, alone, policy, options);
    CollectiveTraffic traffic;
    traffic.time = times.whole;
    traffic.after_last = times.after_last;
    const Time launch = std::min(system.collectives->launch_latency, traffic.time / 2);
    traffic.bytes_per_second =
        memory_of_first(alone, "packet_bytes") / to_seconds(traffic.time - launch);
    CollectiveSpec spec;
    spec.choice = alone.collectives.front().choice;
    const ResidentShape block = kernel_shape(*system.collectives, spec);
    traffic.blocks = spec.choice.channels;
    traffic.threads = block.threads;
    traffic.registers_per_thread = block.registers_per_thread;
    traffic.shared_memory = block.shared_memory;
    traffic.footprint = Bytes(static_cast<std::uint64_t>(memory_of_first(alone, "footprint_peak")));
    return traffic;
}

std::string protocol_by_threads(const CollectiveOperation& operation) {
    constexpr std::uint32_t kLl = 512;
    constexpr std::uint32_t kSimple = 544;
    constexpr std::uint32_t kLl128 = 640;
    if (operation.kind == CollectiveKind::kAllToAll)
        return "simple";
    switch (operation.threads_per_block) {
    case kLl:
        return "ll";
    case kLl128:
        return "ll128";
    case kSimple:
        return "simple";
    default:
        return std::string(operation.protocol.text());
    }
}

CollectiveTraffic traced_traffic(
    const SystemParams& system, const CollectiveOperation& operation,
    const std::vector<std::uint32_t>& ranks, const SimulateOptions& options,
    const UnevenExchange* parts) {
    const auto members = static_cast<std::uint32_t>(ranks.size());
    return traffic_of(system, as_traced(operation, members), ranks, options, parts);
}

Time replayed_time(
    const SystemParams& system, const CollectiveOperation& operation,
    const std::vector<std::uint32_t>& ranks, const SimulateOptions& options) {
    Alone punctual{operation, ranks};
    punctual.operation.peers_late = Time();
    return time_of(run_alone(system, punctual, ring_policy(), options));
}

TransferTime traced_times(
    const SystemParams& system, const CollectiveOperation& operation,
    const std::vector<std::uint32_t>& ranks, const SimulateOptions& options,
    const UnevenExchange* parts) {
    Alone punctual{as_traced(operation, static_cast<std::uint32_t>(ranks.size())), ranks, parts};
    punctual.operation.peers_late = Time();
    const CollectivePolicy policy = policy_of(punctual.operation);
    const Outcome alone = run_alone(system, punctual, policy, options);
    return times_of(system, punctual, alone, policy, options);
}

TransferTime replayed_times(
    const SystemParams& system, const CollectiveOperation& operation,
    const std::vector<std::uint32_t>& ranks, const SimulateOptions& options) {
    Alone punctual{operation, ranks};
    punctual.operation.peers_late = Time();
    const Outcome alone = run_alone(system, punctual, ring_policy(), options);
    return times_of(system, punctual, alone, ring_policy(), options);
}

Time simulate_beside(
    const GpuParams& gpu, const KernelOperation& kernel,
    const std::vector<CommunicationPhase>& phases) {
    return Scene(gpu, phases).run(kernel);
}

}  // namespace switchfold
