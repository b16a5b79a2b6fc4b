// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/library.h"

#include "core/error.h"
#include "models/collectives/choice/machine_view.h"
#include "models/collectives/choice/policy_checks.h"
#include "models/collectives/libraries.h"
#include "models/collectives/programs/program_file.h"
#include "models/collectives/programs/running_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace switchfold {

namespace {

using programs::ProgramFile;
using programs::Shape;

constexpr std::uint32_t kProvedInFull = 64;  // ranks; above, one instance is proved at load

/// A file's program (docs/programs.md).
class ProgramsLibrary final : public CommunicationLibrary {
public:
    [[nodiscard]] bool serves(CollectiveKind kind, const CollectivePolicy& policy) const override {
        return policy.kernels == Kernels::kClassic && policy.algorithm == Algorithm::kProgram &&
               kind != CollectiveKind::kMoeDispatch && kind != CollectiveKind::kMoeCombine;
    }
    [[nodiscard]] bool made(const CollectiveConfig& choice) const override {
        return choice.is<ProgramConfig>();
    }
    [[nodiscard]] std::vector<Algorithm> algorithms(CollectiveKind kind) const override {
        const bool known = kind == CollectiveKind::kAllReduce ||
                           kind == CollectiveKind::kReduceScatter ||
                           kind == CollectiveKind::kAllGather ||
                           kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kAllToAll;
        return known ? std::vector{Algorithm::kProgram} : std::vector<Algorithm>();
    }
    void check(
        CollectiveKind kind, const CollectivePolicy& policy, ParamChecker& checker) const override {
        const PolicyChecks at(kind, policy, checker);
        at.expect_pull();
        at.expect_no_copies();
        if (policy.algorithm.program != nullptr && policy.algorithm.program->kind() != kind)
            at.error(
                "algorithm", fmt::format(
                                 "is the program {}, which runs {}; expected a program of {}",
                                 policy.algorithm.program->written(),
                                 to_string(policy.algorithm.program->kind()), to_string(kind)));
    }
    [[nodiscard]] std::vector<ResidentShape>
    kernels(const CollectiveParams& params, const CollectivePolicy& policy) const override {
        CollectiveConfig choice;
        choice.protocol = policy.protocol == Protocol::kAuto ? Protocol::kSimple : policy.protocol;
        return {shape_of(params, choice, false)};
    }
    [[nodiscard]] Refusal refuses(
        const CollectiveParams& params, const CollectivePolicy& policy, const CollectiveCall& call,
        const CallGroup& group) const override {
        const auto& file = policy.algorithm.program;
        if (file == nullptr || file->kind() != call.kind)
            return {
                fmt::format("it does not run {}", to_string(call.kind)), "algorithm", "program",
                "a program of that collective"};
        std::string why;
        const std::optional<Shape> shape = shape_of(group, why);
        if (shape && !call.even)
            why =
                "the parts of the exchange differ, and programs divide a buffer into equal chunks";
        if (shape && why.empty())
            why = file->why_not(*shape);
        if (shape && why.empty())
            try {
                Shape whole = *shape;
                whole.instances = file->instances(whole);
                if (whole.instances == 0)
                    whole.instances = policy.channels;
                // As many as choose() takes at most.
                const bool own = whole.instances != 0;
                whole.instances = std::max(1U, whole.instances);
                auto proved = file->proved(whole);
                if (!own && whole.ranks <= kProvedInFull) {
                    whole.instances = std::max(1U, params.channels / proved->blocks);
                    proved = file->proved(whole);
                }
                if (proved->uses_switches)
                    why = why_not_switches(call, group, *shape);
            } catch (const ConfigError& error) {
                why = error.problems().front().text();
            }
        return {why, "algorithm", file->written(), "a program that these ranks can run"};
    }
    [[nodiscard]] CollectivePolicy instead(CollectivePolicy policy) const override {
        policy.algorithm = Algorithm::kAuto;
        return policy;
    }
    [[nodiscard]] CollectiveConfig choose(
        const CollectiveParams& params, const CollectivePolicy& policy, const CollectiveCall& call,
        const CallGroup& group) const override {
        const ProgramFile& file = *policy.algorithm.program;
        std::string ignored;
        Shape shape = shape_of(group, ignored).value_or(Shape{group.machine().ranks, 0, 1});
        // Protocol, threads and channels as NCCL would choose them for a ring.
        CollectivePolicy ring = policy;
        ring.algorithm = Algorithm::kRing;
        ring.channels = 0;
        if (ring.protocol == Protocol::kAuto)
            ring.protocol = file.protocol();
        const bool rings = call.kind != CollectiveKind::kAllToAll;
        CollectiveConfig choice = choose_collective(
            params, ring, group.machine(),
            {rings ? call.kind : CollectiveKind::kAllGather, call.bytes, call.datatype});
        shape.instances = file.instances(shape);
        const bool own = shape.instances != 0;
        if (!own && policy.channels != 0)
            shape.instances = policy.channels;
        if (shape.instances == 0) {
            shape.instances = 1;
            const std::uint32_t blocks = file.proved(shape)->blocks;
            shape.instances = std::max(1U, choice.channels / std::max(1U, blocks));
        }
        const auto proved = file.proved(shape);
        choice.algorithm = Algorithm::kProgram;
        choice.channels = proved->blocks;
        choice.own = ProgramConfig{
            programs::number_of(policy.algorithm.program), shape.ranks, shape.per_machine,
            shape.instances, proved->uses_switches};
        return choice;
    }
    [[nodiscard]] ResidentShape
    kernel(const CollectiveParams& params, const CollectiveConfig& choice) const override {
        return shape_of(params, choice, choice.of<ProgramConfig>().uses_switches);
    }
    void
    distinguish(const CollectiveConfig& choice, std::vector<std::uint64_t>& words) const override {
        const auto& own = choice.of<ProgramConfig>();
        words.insert(words.end(), {std::uint64_t{own.file}, std::uint64_t{own.instances}});
    }
    [[nodiscard]] ChoiceWords words(const CollectiveConfig& choice) const override {
        const auto& own = choice.of<ProgramConfig>();
        return {
            programs::file_of(own.file)->name(), enum_name(choice.protocol),
            own.uses_switches ? "a program of switches" : std::string_view()};
    }
    [[nodiscard]] std::unique_ptr<RunningCollective> make(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::string& refused) const override {
        return make_program(environment, spec, listener, refused);
    }

private:
    static ResidentShape
    shape_of(const CollectiveParams& params, const CollectiveConfig& choice, bool switches) {
        if (switches)
            return {
                params.in_switch_threads, params.registers_per_thread, params.shared_memory,
                params.launch_latency, Time()};
        const ProtocolParams& protocol = params_of(params, choice.protocol);
        const double missing = missing_threads(params, choice);
        const auto late = static_cast<std::uint64_t>(
            static_cast<double>(protocol.threads_start.count()) * missing);
        return {
            choice.threads != 0 ? choice.threads : protocol.threads, params.registers_per_thread,
            params.shared_memory, params.launch_latency - Time(late), protocol.start_overhead};
    }
    /// Programs count a machine's GPUs one after the other.
    static std::optional<Shape> shape_of(const CallGroup& group, std::string& why) {
        const GroupLayout layout = lay_out(group.topology(), group.ranks());
        const auto ranks = static_cast<std::uint32_t>(group.ranks().size());
        const auto each = static_cast<std::uint32_t>(layout.machines.front().size());
        if (!layout.even()) {
            why = "the machines do not all have the same number of the group's GPUs";
            return {};
        }
        for (std::uint32_t position = 0; position < ranks; ++position)
            if (layout.machine_of[position] != position / each) {
                why = "the group's ranks are not ordered machine by machine";
                return {};
            }
        return Shape{ranks, each, 1};
    }
    static std::string
    why_not_switches(const CollectiveCall& call, const CallGroup& group, const Shape& shape) {
        if (shape.per_machine < 2)
            return {};
        const std::vector<std::uint32_t> first(
            group.ranks().begin(), group.ranks().begin() + shape.per_machine);
        return why_not(
            Algorithm::kInSwitch, CollectiveKind::kAllReduce, call.datatype, group.topology(),
            first);
    }
};

}  // namespace

const CommunicationLibrary& programs_library() {
    static const ProgramsLibrary library;
    return library;
}

}  // namespace switchfold
