// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/params.h"
#include "sim/core/params_cursor.h"
#include "sim/core/params_schema.h"
#include "sim/core/units.h"
#include "sim/run/config/host_costs_params.h"
#include "workloads/changes/batch.h"
#include "workloads/changes/change.h"
#include "workloads/changes/state_transfer.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace switchfold {

template <>
struct EnumNames<changes::Method> {
    static constexpr std::array<std::pair<changes::Method, std::string_view>, 5> kNames{
        {{changes::Method::kRestart, "restart"},
         {changes::Method::kReconnect, "reconnect"},
         {changes::Method::kJoin, "join"},
         {changes::Method::kLeave, "leave"},
         {changes::Method::kFailure, "failure"}}};
};
template <>
struct EnumNames<changes::Keep> {
    static constexpr std::array<std::pair<changes::Keep, std::string_view>, 2> kNames{
        {{changes::Keep::kGlobalBatch, "global_batch"}, {changes::Keep::kPerGpu, "per_gpu"}}};
};
template <>
struct EnumNames<changes::Transfer> {
    static constexpr std::array<std::pair<changes::Transfer, std::string_view>, 4> kNames{
        {{changes::Transfer::kRing, "ring"},
         {changes::Transfer::kTree, "tree"},
         {changes::Transfer::kScatter, "scatter"},
         {changes::Transfer::kInSwitch, "in_switch"}}};
};

/// A number of steps, or a time with its unit.
struct MomentParams : changes::Moment {};
void read_value(const Cursor& c, MomentParams& out);
[[nodiscard]] OrderedJson write_value(const MomentParams& value);
template <>
struct SchemaOf<MomentParams> {
    static OrderedJson make();
};

/// A number of GPUs, or an array of ranks.
struct GpusParams : changes::Gpus {};
void read_value(const Cursor& c, GpusParams& out);
[[nodiscard]] OrderedJson write_value(const GpusParams& value);
template <>
struct SchemaOf<GpusParams> {
    static OrderedJson make();
};

struct ChangeParams {
    MomentParams at;
    GpusParams add;
    GpusParams remove;
    std::optional<changes::Method> method;
    Time notice;
    bool announced = false;
    bool died = false;
    static constexpr auto fields() {
        using P = ChangeParams;
        return std::tuple{
            field("at", &P::at, "After so many steps, or a time as \"3600 s\".").required(),
            field("add", &P::add, "So many GPUs, the lowest that are free, or these ranks."),
            field("remove", &P::remove, "So many members, the highest, or these ranks."),
            field(
                "method",
                &P::method,
                "How, if not as the run says: restart, reconnect, join, leave, failure "
                "(docs/elastic.md)."),
            field(
                "notice",
                &P::notice,
                "leave: members know that much before; the new communicator is built meanwhile."),
            field(
                "announced",
                &P::announced,
                "reconnect: added processes have been started beside training."),
            field(
                "died",
                &P::died,
                "restart, reconnect: those that are removed are gone without a word, and the step "
                "under way is lost. A failure always is.")};
    }
};

struct CheckpointParams {
    Time every;
    bool asynchronous = false;
    static constexpr auto fields() {
        using P = CheckpointParams;
        return std::tuple{
            field("every", &P::every, "Time from one to the next.").required(),
            field(
                "asynchronous",
                &P::asynchronous,
                "Members wait for a copy to their host's memory; it is written beside training. "
                "Else they wait until it is written.")};
    }
    void check(ParamChecker& checker) const {
        if (every.count() == 0)
            checker.error("/every", "is 0; expected a time");
    }
};

struct FailureParams {
    double per_gpu_day = 0;
    std::string file;
    Time repair;
    std::uint32_t spares = 0;
    changes::Method method = changes::Method::kFailure;
    changes::Method rejoin = changes::Method::kJoin;
    static constexpr auto fields() {
        using P = FailureParams;
        return std::tuple{
            field(
                "per_gpu_day",
                &P::per_gpu_day,
                "Failures of a GPU a day, mean; drawn with the experiment's seed.",
                0.0,
                1e6),
            field("file", &P::file, "CSV with the columns seconds, gpu; instead of a rate."),
            field("repair", &P::repair, "Until a GPU that failed can train again.").required(),
            field(
                "spares",
                &P::spares,
                "GPUs, the lowest that do not train, that take the place of those that fail.",
                0U,
                65'536U),
            field("method", &P::method, "Of the members that are left: failure or restart."),
            field(
                "rejoin",
                &P::rejoin,
                "How spares and repaired GPUs come in: join, reconnect or restart.")};
    }
    void check(ParamChecker& checker) const;
};

/// A run over many steps in which members join and leave; docs/elastic.md.
struct RunParams {
    std::uint64_t steps = 0;
    Time time;
    changes::Method method = changes::Method::kRestart;
    changes::Keep keep = changes::Keep::kGlobalBatch;
    changes::Transfer broadcast = changes::Transfer::kRing;
    PathOr<HostCostsParams> costs;
    std::vector<ChangeParams> changes;
    std::optional<CheckpointParams> checkpoint;
    std::optional<FailureParams> failures;

    /// The changes as written, with their methods.
    [[nodiscard]] std::vector<changes::Change> written() const;
    static constexpr auto fields() {
        using P = RunParams;
        return std::tuple{
            field("steps", &P::steps, "Steps of the run. Instead of time."),
            field("time", &P::time, "Its time. Instead of steps."),
            field("method", &P::method, "Of changes that do not say theirs."),
            field(
                "keep",
                &P::keep,
                "What stays when the number of members changes: global_batch, the samples of a "
                "step; per_gpu, those of each member."),
            field(
                "broadcast",
                &P::broadcast,
                "How state comes to joiners: ring, a chain in chunks; tree; scatter, each old "
                "member sends a part; in_switch, one stream that the switches copy."),
            field(
                "costs",
                &P::costs,
                "What hosts and libraries take, or the file that says so (configs/costs).")
                .required(),
            field("changes", &P::changes, "In their order."),
            field("checkpoint", &P::checkpoint, "Written all along. None: at restarts alone."),
            field("failures", &P::failures, "GPUs that fail. None: none but those of changes.")};
    }
    void check(ParamChecker& checker) const;
};

}  // namespace switchfold
