// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace switchfold {

/// How a network's switches choose among the shortest paths of a pair.
enum class RoutePolicy : std::uint8_t {
    kStatic,    ///< each packet takes the path that its number says
    kAdaptive,  ///< each switch takes the output with the shortest queue
};
template <>
struct EnumNames<RoutePolicy> {
    static constexpr std::array<std::pair<RoutePolicy, std::string_view>, 2> kNames{
        {{RoutePolicy::kStatic, "static"}, {RoutePolicy::kAdaptive, "adaptive"}}};
};

/// Priority flow control (IEEE 802.1Qbb) in place of credits: a buffer that fills stops the sender
/// by a frame, which travels as long as data do.
struct PauseParams {
    Bytes from;
    Bytes until;

    static constexpr auto fields() {
        using P = PauseParams;
        return list_of(
            field(
                "from", &P::from,
                "Bytes in the input buffer of a lane and virtual channel at which it stops the "
                "sender (XOFF).",
                Bytes(1), mebibytes(1024))
                .required(),
            field(
                "until", &P::until, "Bytes at which the sender may go on (XON).", Bytes(0),
                mebibytes(1024))
                .required());
    }
};

/// Rates by marks of switches: DCQCN (Zhu et al., "Congestion Control for Large-Scale RDMA
/// Deployments", SIGCOMM 2015). Defaults are that paper's, except where a row says otherwise.
struct DcqcnParams {
    Bytes mark_from;
    Bytes mark_all_from;
    double mark_share = 0.01;
    Time notify_every = microseconds(50);
    double gain = 1.0 / 256;
    Time gain_timer = microseconds(55);
    Time rate_timer = microseconds(55);
    Bytes rate_bytes{10'000'000};
    std::uint32_t recoveries = 5;
    Bandwidth additive{5'000'000};
    Bandwidth hyper{25'000'000};
    Bandwidth least{12'500'000};

    static constexpr auto fields() {
        using P = DcqcnParams;
        return list_of(
            field(
                "mark_from", &P::mark_from,
                "Bytes that wait for an output of a switch from which on it marks some packets "
                "(Kmin).",
                Bytes(0), mebibytes(1024))
                .required(),
            field(
                "mark_all_from", &P::mark_all_from, "Bytes from which on it marks all (Kmax).",
                Bytes(0), mebibytes(1024))
                .required(),
            field(
                "mark_share", &P::mark_share, "Share that it marks just below that (Pmax).", 0.0,
                1.0),
            field(
                "notify_every", &P::notify_every,
                "A receiver tells the sender of marks at most this often, for each pair.", Time(1),
                microseconds(1'000'000)),
            field(
                "gain", &P::gain,
                "Weight of a notification in the sender's estimate of congestion (g).", 1e-6, 1.0),
            field(
                "gain_timer", &P::gain_timer,
                "Without notifications, the estimate falls this often (K).", Time(1),
                microseconds(1'000'000)),
            field(
                "rate_timer", &P::rate_timer,
                "Without notifications, the rate rises this often (T).", Time(1),
                microseconds(1'000'000)),
            field(
                "rate_bytes", &P::rate_bytes, "And after as many bytes (B).", Bytes(1),
                mebibytes(1024)),
            field(
                "recoveries", &P::recoveries,
                "Rises half of the way back to the last rate, before rises beyond it (F).", 1U,
                100U),
            field(
                "additive", &P::additive, "A rise beyond it, per second (R_AI).", Bandwidth(0),
                gigabytes_per_second(1000)),
            field(
                "hyper", &P::hyper,
                "The same where timer and bytes have both risen so often (R_HAI), times the number "
                "of such rises.",
                Bandwidth(0), gigabytes_per_second(1000)),
            field(
                "least", &P::least,
                "No rate falls below this; of ours, since the paper states none.",
                Bandwidth(1'000'000), gigabytes_per_second(1000)));
    }
};

/// What a receiver asks for when a packet is missing.
enum class Recovery : std::uint8_t {
    kGoBackN,    ///< that packet and all since, as RoCE's NICs did at first
    kSelective,  ///< that packet alone
};
template <>
struct EnumNames<Recovery> {
    static constexpr std::array<std::pair<Recovery, std::string_view>, 2> kNames{
        {{Recovery::kGoBackN, "go_back_n"}, {Recovery::kSelective, "selective"}}};
};

/// Packets that a network loses, and how they are sent again.
struct LossParams {
    double share = 0;
    Recovery recovery = Recovery::kSelective;
    Time timeout = microseconds(500);

    static constexpr auto fields() {
        using P = LossParams;
        return list_of(
            field(
                "share", &P::share, "Of the packets on each link of the network, those it loses.",
                0.0, 0.5)
                .required(),
            field(
                "recovery", &P::recovery,
                "What the receiver asks for: the lost packet and all after it (go_back_n), which "
                "takes one path a pair and static routing, or the lost packet alone (selective)."),
            field(
                "timeout", &P::timeout,
                "The sender sends again after this time if no later packet has told the receiver.",
                microseconds(1), microseconds(10'000'000)));
    }
};

/// What a network between machines does about congestion. It concerns stores from GPU to GPU; what
/// switches reduce travels in groups of its own, by the same links.
struct CongestionParams {
    RoutePolicy routing = RoutePolicy::kStatic;
    std::optional<PauseParams> pause;
    std::optional<DcqcnParams> dcqcn;
    std::optional<LossParams> loss;
    std::uint32_t seed = 1;

    static constexpr auto fields() {
        using P = CongestionParams;
        return list_of(
            field(
                "routing", &P::routing,
                "How switches choose among a pair's shortest paths (paths_per_pair at most): by "
                "the packet's number (static), or the one with the shortest queue (adaptive)."),
            field(
                "pause", &P::pause,
                "Priority flow control on the network's links. Absent: credits, as on InfiniBand."),
            field("dcqcn", &P::dcqcn, "Senders' rates by marks. Absent: senders know no rate."),
            field("loss", &P::loss, "Lost packets. Absent: none is lost."),
            field("seed", &P::seed, "Of the draws of marks and losses.", 1U, 1'000'000U));
    }
};

}  // namespace switchfold
