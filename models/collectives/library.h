// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/call_group.h"
#include "models/collectives/choice/refusal.h"
#include "models/collectives/choice/tuning.h"
#include "models/collectives/member_pairs.h"
#include "models/collectives/running_collective.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// Resources that a collective takes on a GPU, and the delays of its kernel.
struct ResidentShape {
    std::uint32_t threads = 0;
    std::uint32_t registers_per_thread = 0;
    Bytes shared_memory;
    Time launch_latency;  ///< half of it precedes the first data movement, half follows the last
    Time start_overhead;  ///< additional, before the first
};
/// A kernel whose block a machine's parameters describe.
struct StatedKernel {
    std::string_view name;
    std::string_view pointer;  ///< of the parameter that says its threads, within `at`
    ResidentShape shape;
};
/// The kernels of one library that have registers and shared memory in common.
struct StatedKernels {
    std::string_view at;  ///< the parameters that the block comes from
    std::vector<StatedKernel> kernels;
};

/// What reports call a choice.
struct ChoiceWords {
    std::string_view algorithm;
    std::string_view mover;  ///< protocol, or what else moves the data; empty: not told
    std::string_view study;  ///< how switches reduce that nobody has built; empty: there are such
};

/// Something that runs collectives: NCCL, its kernels on symmetric memory, copy engines, a
/// framework's own copies, kernels of experts. A library has a folder of its own and a row in
/// libraries.cpp; whoever wants to know whether a call can run, as what, and with which kernel asks
/// here. Libraries have no state.
class CommunicationLibrary {
public:
    CommunicationLibrary() = default;
    virtual ~CommunicationLibrary() = default;
    CommunicationLibrary(const CommunicationLibrary&) = delete;
    CommunicationLibrary& operator=(const CommunicationLibrary&) = delete;
    CommunicationLibrary(CommunicationLibrary&&) = delete;
    CommunicationLibrary& operator=(CommunicationLibrary&&) = delete;

    /// Whether calls of this kind by this policy are its own. The first row that says so has them.
    [[nodiscard]] virtual bool
    serves(CollectiveKind kind, const CollectivePolicy& policy) const = 0;
    /// Whether it made this choice.
    [[nodiscard]] virtual bool made(const CollectiveConfig& choice) const = 0;

    /// Algorithms that a policy for the kind may name besides auto.
    [[nodiscard]] virtual std::vector<Algorithm> algorithms(CollectiveKind /*kind*/) const {
        return {};
    }
    /// What a message says before a kind that it has no algorithm for.
    [[nodiscard]] virtual std::string_view lack() const { return "there is no"; }
    /// Tells of fields of a policy that it cannot have on any machine, at /KIND/FIELD.
    virtual void check(
        CollectiveKind /*kind*/, const CollectivePolicy& /*policy*/,
        ParamChecker& /*checker*/) const {}
    /// Kernels by this policy that take SMs; none: it takes none.
    [[nodiscard]] virtual std::vector<ResidentShape>
    kernels(const CollectiveParams& /*params*/, const CollectivePolicy& /*policy*/) const {
        return {};
    }
    /// Kernels that must fit on an SM of every machine that states them.
    [[nodiscard]] virtual StatedKernels stated(const CollectiveParams& /*params*/) const {
        return {};
    }

    /// Whether it can run the call, and if not, why.
    [[nodiscard]] virtual Refusal refuses(
        const CollectiveParams& params, const CollectivePolicy& policy, const CollectiveCall& call,
        const CallGroup& group) const = 0;
    /// What a kind that follows the all-reduces' policy does where that is refused.
    [[nodiscard]] virtual CollectivePolicy instead(CollectivePolicy policy) const = 0;
    /// Algorithm, protocol and blocks. \pre it does not refuse the call
    [[nodiscard]] virtual CollectiveConfig choose(
        const CollectiveParams& params, const CollectivePolicy& policy, const CollectiveCall& call,
        const CallGroup& group) const = 0;
    /// Fewest thread blocks that the call needs at the same time.
    [[nodiscard]] virtual std::uint32_t fewest_blocks(const CollectiveCall& /*call*/) const {
        return 1;
    }
    /// Ranks between which its data go, over the shortest ways; nothing: they may go anywhere. What
    /// passes over other ways does not disturb them.
    [[nodiscard]] virtual std::optional<MemberPairs> pairs(const CollectiveSpec& /*spec*/) const {
        return std::nullopt;
    }
    /// Whether its members end together, but for little.
    [[nodiscard]] virtual bool ends_together(const CollectiveConfig& /*choice*/) const {
        return false;
    }
    /// Whether thread blocks that a trace shows are of the same kernel as the choice's, as far as
    /// the trace says whose they are.
    [[nodiscard]] virtual bool shares_traced_kernel(const CollectiveConfig& /*choice*/) const {
        return false;
    }
    [[nodiscard]] virtual ResidentShape
    kernel(const CollectiveParams& params, const CollectiveConfig& choice) const = 0;
    /// Appends what tells the choice from others of the library that differ in more than algorithm,
    /// protocol, blocks and threads.
    virtual void
    distinguish(const CollectiveConfig& /*choice*/, std::vector<std::uint64_t>& /*words*/) const {}
    [[nodiscard]] virtual ChoiceWords words(const CollectiveConfig& choice) const = 0;
    /// Null, with the reason in `refused`, if a switch has no room for its group.
    [[nodiscard]] virtual std::unique_ptr<RunningCollective> make(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::string& refused) const = 0;
};

/// All, in the order of libraries.cpp.
[[nodiscard]] std::span<const CommunicationLibrary* const> libraries();
/// That of a policy's calls.
[[nodiscard]] const CommunicationLibrary&
library_for(CollectiveKind kind, const CollectivePolicy& policy);
/// That which made a choice.
[[nodiscard]] const CommunicationLibrary& library_of(const CollectiveConfig& choice);

/// Algorithms that a policy of these kernels may name for the kind besides auto, in the libraries'
/// order.
[[nodiscard]] std::vector<Algorithm> algorithms_for(CollectiveKind kind, Kernels kernels);

/// The kernel of a collective; of one that may take its traced time: its launch lies outside of
/// that.
[[nodiscard]] ResidentShape
kernel_shape(const CollectiveParams& params, const CollectiveSpec& spec);

/// Constructs a collective according to its choice. Null, with the reason in `refused`, if a switch
/// has no room for its group.
[[nodiscard]] std::unique_ptr<RunningCollective> make_collective(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::string& refused);

}  // namespace switchfold
