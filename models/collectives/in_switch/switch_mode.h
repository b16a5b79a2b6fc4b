// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/collective_config.h"
#include "models/collectives/choice/tuning.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace switchfold {

struct CollectiveEnvironment;
struct Topology;
struct CollectiveSpec;
class MemberListener;
class RunningCollective;

/// How the switches of one domain run an all-reduce: who sends, where it is added, who stores. The
/// shipped ones are rows of switch_modes.cpp. Made for being derived from outside:
/// CollectivePolicy::own_mode takes any. Its contract:
///
/// 1. It runs the all-reduces of policies with algorithm in_switch; other kinds have no modes.
/// 2. What why_not() names is refused before anything runs.
/// 3. make() gives one call's collective, most easily an InSwitchCollective: group, ports, numbers.
///    Null, with the reason in `refused`: a switch had no room, and the call runs as a ring.
/// 4. Every member joins once, and is told done once, when all of its result lies in its memory.
/// 5. What moves is packets (packet.h) to the group; the switches add, copy and answer by kind.
/// 6. A member's memory, SMs and time are paid by RankPort and the scheduler, not by packets.
/// 7. Functional mode: values sent are the buffers'; each handle is kept or dropped once.
/// 8. After abandon() nothing is sent and nobody is told; what still comes is dropped.
/// 9. Partial sums (tables that evict, operands that are late) are merged, or why_not() refuses
///    units that make them. A sum that is never complete ends the run with exit code 3.
/// 10. A mode has no state, serves any number of calls at once, and outlives the run.
class SwitchMode {
public:
    SwitchMode() = default;
    virtual ~SwitchMode() = default;
    SwitchMode(const SwitchMode&) = delete;
    SwitchMode& operator=(const SwitchMode&) = delete;
    SwitchMode(SwitchMode&&) = delete;
    SwitchMode& operator=(SwitchMode&&) = delete;

    /// In tables, reports and notes.
    [[nodiscard]] virtual std::string_view name() const = 0;
    /// Whether switches are known that work like this; else results say that none was measured.
    [[nodiscard]] virtual bool exists() const { return false; }
    /// Whether ranks that do the same may be simulated by one: rank symmetry knows its packets.
    [[nodiscard]] virtual bool folds() const { return false; }
    /// Why it cannot run the call on this machine; empty if it can.
    [[nodiscard]] virtual std::string why_not(
        const CollectiveCall& /*call*/, const Topology& /*topology*/,
        std::span<const std::uint32_t> /*ranks*/) const {
        return {};
    }
    [[nodiscard]] virtual std::unique_ptr<RunningCollective> make(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::string& refused) const = 0;
};

/// A program's own, else the row of the word.
[[nodiscard]] const SwitchMode& mode_of(const CollectivePolicy& policy);
[[nodiscard]] const SwitchMode& mode_of(const NcclConfig& choice);

}  // namespace switchfold
