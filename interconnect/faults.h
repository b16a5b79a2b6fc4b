// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"
#include "interconnect/topology.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace switchfold {

/// A cable that goes out of service. Packets already on it arrive; no further ones are routed over
/// it.
struct LinkDownFault {
    static constexpr std::string_view kType = "link_down";
    std::string component;
    Time at;
    static constexpr auto fields() {
        return list_of(
            field(
                "component", &LinkDownFault::component,
                "The link, by either direction's name in result.json: gpu0_to_switch1.")
                .required(),
            field("at", &LinkDownFault::at, "Time of the fault; 0: from the start."));
    }
};

/// A cable that loses part of its rate in both directions.
struct LinkDegradedFault {
    static constexpr std::string_view kType = "link_degraded";
    std::string component;
    std::uint32_t bandwidth_ppm = 500'000;
    Time at;
    static constexpr auto fields() {
        return list_of(
            field(
                "component", &LinkDegradedFault::component, "The link, by either direction's name.")
                .required(),
            field(
                "bandwidth_ppm", &LinkDegradedFault::bandwidth_ppm,
                "Remaining share of its bandwidth, in millionths.", 1U, 1'000'000U),
            field("at", &LinkDegradedFault::at, "Time of the fault; 0: from the start."));
    }
};

/// A cable with bit errors in both directions. The link layer retransmits from the corrupted packet
/// on (go-back-N), so each error costs a round trip of the link.
struct BitErrorsFault {
    static constexpr std::string_view kType = "bit_errors";
    std::string component;
    double bit_error_rate = 1e-9;
    Time at;
    static constexpr auto fields() {
        return list_of(
            field("component", &BitErrorsFault::component, "The link, by either direction's name.")
                .required(),
            field(
                "bit_error_rate", &BitErrorsFault::bit_error_rate,
                "Probability that a bit on the wire is wrong.", 0.0, 1e-4),
            field("at", &BitErrorsFault::at, "Time of the first errors; 0: from the start."));
    }
};

/// A switch whose reduction units stop working: reductions report a time-out instead of a sum.
struct ReductionTimeoutFault {
    static constexpr std::string_view kType = "reduction_timeout";
    std::string component;
    Time at;
    static constexpr auto fields() {
        return list_of(
            field("component", &ReductionTimeoutFault::component, "The switch.").required(),
            field("at", &ReductionTimeoutFault::at, "Time of the fault; 0: from the start."));
    }
};

using FaultParams =
    std::variant<LinkDownFault, LinkDegradedFault, BitErrorsFault, ReductionTimeoutFault>;

/// Faults of components that this machine does not have: (index, reason).
[[nodiscard]] std::vector<std::pair<std::size_t, std::string>>
check_faults(const Topology& topology, const std::vector<FaultParams>& faults);

/// Edges that a link's name refers to: exactly one if the name includes its number, otherwise all
/// edges between the two ends.
[[nodiscard]] std::vector<std::uint32_t>
edges_named(const Topology& topology, std::string_view name);
/// Name of the component that fails.
[[nodiscard]] const std::string& component_of(const FaultParams& fault);

}  // namespace switchfold
