// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/symmetric/symmetric_move.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace switchfold {

namespace {

constexpr std::uint32_t kFirstSymmetric = 22'700;
constexpr std::uint32_t kMostBlocks = 64;
constexpr double kGibi = 1024.0 * 1024 * 1024;
/// An additional block must save at least this share of the time.
constexpr double kShareOfABlock = 0.025;

/// NCCL's constants of a GPU generation, in microseconds and bytes per microsecond.
struct Constants {
    double ll_latency;
    double ll_gather_latency;
    double reduce_latency;  ///< all-reduce
    double other_latency;
    double reduce_block;  ///< per thread block, all-reduce
    double other_block;
    double reduce_peak;  ///< all-reduce through the switch
    double other_peak;
    std::uint32_t
        multicast_blocks;  ///< divided by the ranks: limit on blocks of a kernel with multicast
};
constexpr double in_microseconds(double gibibytes_a_second) {
    return gibibytes_a_second * kGibi * 1e-6;
}
constexpr Constants kHopper{
    4.5,
    4.5,
    7.8,
    7.8,
    in_microseconds(65),
    in_microseconds(44),
    in_microseconds(480),
    in_microseconds(320),
    16};
constexpr Constants kBlackwell{
    11,
    8.5,
    19.5,
    13,
    in_microseconds(55),
    in_microseconds(55),
    in_microseconds(1000),
    in_microseconds(600),
    32};

const Constants& constants_of(TunerGeneration generation) {
    return generation == TunerGeneration::kBlackwell ? kBlackwell : kHopper;
}

/// ln(1 + e^x); equals x if e^x would overflow.
double softplus(double x) {
    constexpr double kLarge = 30;
    return x > kLarge ? x : std::log1p(std::exp(x));
}

/// Smooth minimum of x and about `most`, with a transition of width `soft`: most - soft ln(1 +
/// (e^(most/soft) - 1) e^(-x/soft)).
double softmin(double x, double most, double soft) {
    const double over = (most - x) / soft;
    const double nothing = std::exp(-most / soft);
    if (over > 0)
        return x - soft * std::log(1 + std::exp(-over) - nothing);
    return most - soft * std::log1p(std::exp(over) - std::exp(-x / soft));
}

class Estimate {
public:
    Estimate(const Constants& constants, const MachineView& machine, const CollectiveCall& call) :
        constants_(constants),
        ranks_(machine.ranks),
        bytes_(static_cast<double>(call.bytes.count())),
        kind_(call.kind) {}

    [[nodiscard]] double
    microseconds(Algorithm algorithm, Protocol protocol, std::uint32_t blocks) const {
        const bool reduces = kind_ == CollectiveKind::kAllReduce;
        const bool multicast = algorithm == Algorithm::kInSwitch;
        const double n = ranks_;
        const double share = bytes_ / n;
        double moved = (n - 1) * share;
        double many = 1;
        double peak = constants_.other_peak;
        double latency = reduces ? constants_.reduce_latency : constants_.other_latency;
        if (protocol == Protocol::kLl) {
            constexpr double kFlags = 9;
            moved = kFlags * n * (reduces ? bytes_ : share);
            many = multicast ? 1.1 : 1;
            latency = kind_ == CollectiveKind::kAllGather ? constants_.ll_gather_latency
                                                          : constants_.ll_latency;
        } else if (reduces) {
            moved = multicast ? share + bytes_ : 2 * bytes_ * (n - 1) / n;
            many = multicast ? n : 1;
            if (multicast)
                peak = constants_.reduce_peak;
        } else if (multicast) {
            many = 0.55 * n;
        }
        const double block = reduces ? constants_.reduce_block : constants_.other_block;
        const double rate = softmin(blocks * block * many, peak, block);
        return latency + softplus(moved / rate - 1);
    }

private:
    const Constants& constants_;
    std::uint32_t ranks_;
    double bytes_;
    CollectiveKind kind_;
};

bool has_kernel(CollectiveKind kind, Algorithm algorithm, Protocol protocol) {
    // Switches reduce whole words only, without LL flags.
    return kind != CollectiveKind::kReduceScatter || algorithm != Algorithm::kInSwitch ||
           protocol != Protocol::kLl;
}

std::string why_no_multicast(const MachineView& machine) {
    if (machine.in_switch_bandwidth == Bandwidth())
        return "the switches neither copy nor add for these GPUs";
    return machine.ranks < 3 ? "kernels with multicast need more than 2 ranks" : "";
}

/// Types that symmetric kernels can add, in the switch too (sym_kernels.cc ncclSymkMask: hasLDMC).
bool adds(Datatype type) {
    return type == Datatype::kFloat32 || type == Datatype::kFloat16 || type == Datatype::kBfloat16;
}

}  // namespace

SymmetricMove symmetric_move(CollectiveKind kind, Algorithm algorithm, Protocol protocol) {
    const Side others = algorithm == Algorithm::kInSwitch ? Side::kSwitch : Side::kPeers;
    if (protocol == Protocol::kLl)
        return {Side::kOwn, others, true};
    switch (kind) {
    case CollectiveKind::kAllReduce:
        return {others, others, false};
    case CollectiveKind::kReduceScatter:
        return {others, Side::kOwn, false};
    default:
        return {Side::kOwn, others, false};
    }
}

bool symmetric_knows(CollectiveKind kind) {
    return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter ||
           kind == CollectiveKind::kAllGather;
}

std::string why_no_symmetric(
    const CollectiveParams& params, const CollectivePolicy& policy, const MachineView& machine,
    const CollectiveCall& call) {
    if (!symmetric_knows(call.kind))
        return fmt::format("there are no symmetric kernels of {}", to_string(call.kind));
    if (params.nccl_version < kFirstSymmetric)
        return fmt::format(
            "NCCL has them from 2.27 on, and nccl_version is {}", params.nccl_version);
    if (machine.machines > 1)
        return "the group spans several machines";
    if (machine.pcie)
        return "the GPUs do not reach each other by NVLink alone";
    if (call.kind != CollectiveKind::kAllGather && !adds(call.datatype))
        return fmt::format("symmetric kernels add no {}", to_string(call.datatype));
    return policy.algorithm == Algorithm::kInSwitch ? why_no_multicast(machine) : "";
}

CollectiveConfig choose_symmetric(
    const CollectiveParams& params, const CollectivePolicy& policy, const MachineView& machine,
    const CollectiveCall& call) {
    const Constants& constants = constants_of(params.tuner);
    const Estimate estimate(constants, machine, call);
    CollectiveConfig best;
    best.own = SymmetricConfig();
    double least = INFINITY;
    for (const Algorithm algorithm : {Algorithm::kDirect, Algorithm::kInSwitch}) {
        const bool multicast = algorithm == Algorithm::kInSwitch;
        if (policy.algorithm != Algorithm::kAuto && policy.algorithm != algorithm)
            continue;
        if (multicast && !why_no_multicast(machine).empty())
            continue;
        for (const Protocol protocol : {Protocol::kLl, Protocol::kSimple}) {
            if (!has_kernel(call.kind, algorithm, protocol) ||
                (policy.protocol != Protocol::kAuto && policy.protocol != protocol))
                continue;
            std::uint32_t most = kMostBlocks;
            if (multicast && protocol == Protocol::kSimple)
                most = (constants.multicast_blocks + machine.ranks - 1) / machine.ranks;
            double fastest = INFINITY;
            for (std::uint32_t blocks = 1; blocks <= most; ++blocks)
                fastest = std::min(fastest, estimate.microseconds(algorithm, protocol, blocks));
            std::uint32_t blocks = policy.channels;
            if (blocks == 0)
                for (blocks = 1; blocks < most; ++blocks)
                    if (estimate.microseconds(algorithm, protocol, blocks) <=
                        fastest * (1 + kShareOfABlock))
                        break;
            const double time = estimate.microseconds(algorithm, protocol, blocks);
            if (time * (1 + kShareOfABlock * blocks) >= least)
                continue;
            least = time * (1 + kShareOfABlock * blocks);
            best.algorithm = algorithm;
            best.protocol = protocol;
            best.channels = blocks;
            best.estimate = Time(static_cast<std::uint64_t>(time * 1e6));
        }
    }
    return best;
}

}  // namespace switchfold
