// SPDX-License-Identifier: Apache-2.0
#include "validation/machines/bounds.h"

#include "sim/machine/system_queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace switchfold::validation {

namespace {

/// Bytes that a group must send or receive, of a collective's size, if `share` of its ranks are
/// outside.
double bytes_across(CollectiveKind kind, double size, double share) {
    switch (kind) {
    // Each element needs a partial sum or the sum, the datum or the message of every group.
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kSendReceive:
        return size;
    default:
        return size * share;
    }
}

/// Rates of all links together, of the slowest GPU and of the slowest machine among those of the
/// first ranks.
struct WaysOut {
    double gpu = 0;
    double machine = 0;
    std::uint32_t ranks_of_machine = 0;  ///< of the machine with most of the ranks
    std::size_t machines = 0;
};

WaysOut ways_out(const Topology& topology, std::uint32_t ranks) {
    std::vector<double> of_gpu(topology.nodes.size(), 0);
    std::map<std::uint32_t, double> of_machine;
    std::map<std::uint32_t, std::uint32_t> ranks_of;
    for (const TopologyEdge& edge : topology.edges) {
        if (edge.down)
            continue;
        const double rate =
            static_cast<double>(topology.links[edge.link_class].lane_bandwidth.count()) *
            edge.lanes;
        for (const auto& [node, other] : {std::pair(edge.a, edge.b), std::pair(edge.b, edge.a)}) {
            of_gpu[node] += rate;
            if (topology.nodes[node].machine != topology.nodes[other].machine)
                of_machine[topology.nodes[node].machine] += rate;
        }
    }
    WaysOut out;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const std::uint32_t machine = topology.nodes[rank].machine;
        out.gpu = rank == 0 ? of_gpu[rank] : std::min(out.gpu, of_gpu[rank]);
        out.machine = rank == 0 ? of_machine[machine] : std::min(out.machine, of_machine[machine]);
        out.ranks_of_machine = std::max(out.ranks_of_machine, ++ranks_of[machine]);
    }
    out.machines = ranks_of.size();
    return out;
}

constexpr double kAboveDataSheet = 1.1;  ///< boost clocks of consumer cards
constexpr double kTeraflops = 1e12;
constexpr double kGigabytes = 1e9;

}  // namespace

double least_seconds(
    const SystemParams& system, CollectiveKind kind, std::uint64_t bytes, std::uint32_t ranks) {
    if (ranks < 2 || ranks > gpus_of(system))
        return 0;
    const WaysOut out = ways_out(build_topology(system.topology), ranks);
    const auto size = static_cast<double>(bytes);
    const auto outside = [&](double inside) { return (ranks - inside) / ranks; };
    double least = 0;
    if (out.gpu > 0)
        least = bytes_across(kind, size, outside(1)) / out.gpu;
    if (out.machines > 1 && out.machine > 0) {
        double across = bytes_across(kind, size, outside(out.ranks_of_machine));
        // Every rank of the machine has a whole buffer for the ranks outside.
        if (kind == CollectiveKind::kAllToAll)
            across *= out.ranks_of_machine;
        least = std::max(least, across / out.machine);
    }
    return least;
}

double most_flops(const GpuRates& gpu, Datatype datatype) {
    double most = gpu.vector;
    switch (datatype) {
    case Datatype::kFloat32:
        most = std::max(most, gpu.tf32);
        break;
    case Datatype::kFloat16:
    case Datatype::kBfloat16:
        most = std::max(most, gpu.half);
        break;
    case Datatype::kFloat8:
        most = std::max({most, gpu.half, gpu.float8});
        break;
    default:
        // Units of a type that is not described have twice the rate of 16 bits.
        most = std::max({most, 2 * gpu.half, gpu.float8});
    }
    return most * kAboveDataSheet;
}

double operations_of(const MatrixProduct& p) {
    return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
           static_cast<double>(p.count);
}

double operations_of(const Attention& a) {
    return 4.0 * static_cast<double>(a.batch) * static_cast<double>(a.queries) *
           static_cast<double>(a.keys) * static_cast<double>(a.heads) *
           static_cast<double>(a.head_width) / (a.causal ? 2 : 1);
}

std::string why_impossible(
    const SystemParams& system, CollectiveKind kind, std::uint64_t bytes, std::uint32_t ranks,
    double seconds) {
    const double least = least_seconds(system, kind, bytes, ranks);
    if (seconds >= least)
        return {};
    return fmt::format(
        "{:.4g} us is faster than the links of {}, which need {:.4g} us for {} over {} GPUs",
        seconds * 1e6, system.name, least * 1e6, to_string(Bytes(bytes)), ranks);
}

std::string why_impossible_rate(double flops, const GpuRates& gpu, Datatype datatype) {
    const double most = most_flops(gpu, datatype);
    if (most == 0 || flops <= most)
        return {};
    return fmt::format(
        "{:.0f} TFLOP/s is more than the {:.0f} that {} has at most in {}", flops / kTeraflops,
        most / kTeraflops, gpu.name, to_string(datatype));
}

std::string why_impossible(
    const MatrixProduct& p, const GpuRates& gpu, double memory_bandwidth, double seconds) {
    std::string why = why_impossible_rate(operations_of(p) / seconds, gpu, p.datatype);
    if (!why.empty() || memory_bandwidth <= 0)
        return why;
    // The L2 may hold some of the operands and of the result.
    const double elements = static_cast<double>(p.m) * static_cast<double>(p.k) +
                            static_cast<double>(p.k) * static_cast<double>(p.n) +
                            static_cast<double>(p.m) * static_cast<double>(p.n);
    const double moved =
        elements * element_bytes(p.datatype) - static_cast<double>(gpu.l2_capacity);
    if (moved / seconds <= memory_bandwidth)
        return {};
    return fmt::format(
        "{:.0f} GB/s of what the L2 cannot hold is more than the {:.0f} that the memory of {} has",
        moved / seconds / kGigabytes, memory_bandwidth / kGigabytes, gpu.name);
}

std::string why_impossible(
    const Attention& a, const GpuRates& gpu, double /*memory_bandwidth*/, double seconds) {
    return why_impossible_rate(operations_of(a) / seconds, gpu, a.datatype);
}

}  // namespace switchfold::validation
