// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/params_cursor.h"
#include "core/params_schema.h"
#include "core/units.h"
#include "sim/config/host_costs_params.h"
#include "training/elastic/batch.h"
#include "training/elastic/change.h"
#include "training/elastic/state_transfer.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

template <>
struct EnumNames<elastic::Method> {
    static constexpr std::array<std::pair<elastic::Method, std::string_view>, 5> kNames{
        {{elastic::Method::kRestart, "restart"},
         {elastic::Method::kReconnect, "reconnect"},
         {elastic::Method::kJoin, "join"},
         {elastic::Method::kLeave, "leave"},
         {elastic::Method::kFailure, "failure"}}};
};
template <>
struct EnumNames<elastic::Keep> {
    static constexpr std::array<std::pair<elastic::Keep, std::string_view>, 2> kNames{
        {{elastic::Keep::kGlobalBatch, "global_batch"}, {elastic::Keep::kPerGpu, "per_gpu"}}};
};
template <>
struct EnumNames<elastic::Transfer> {
    static constexpr std::array<std::pair<elastic::Transfer, std::string_view>, 4> kNames{
        {{elastic::Transfer::kRing, "ring"},
         {elastic::Transfer::kTree, "tree"},
         {elastic::Transfer::kScatter, "scatter"},
         {elastic::Transfer::kInSwitch, "in_switch"}}};
};

/// A number of steps, or a time with its unit.
struct MomentParams : elastic::Moment {};
void read_value(const Cursor& c, MomentParams& out);
[[nodiscard]] OrderedJson write_value(const MomentParams& value);
template <>
struct SchemaOf<MomentParams> {
    static OrderedJson make();
};

/// A number of GPUs, or an array of ranks.
struct GpusParams : elastic::Gpus {};
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
    std::optional<elastic::Method> method;
    Time notice;
    bool announced = false;
    bool died = false;
    static constexpr auto fields() {
        using P = ChangeParams;
        return list_of(
            field(
                "at", &P::at, "Number of steps after which it happens, or a time like \"3600 s\".")
                .required(),
            field("add", &P::add, "Number of GPUs, the lowest free ones, or an array of ranks."),
            field(
                "remove", &P::remove, "Number of members, the highest ones, or an array of ranks."),
            field(
                "method", &P::method,
                "Overrides the run's method: restart, reconnect, join, leave, failure "
                "(docs/elastic.md)."),
            field(
                "notice", &P::notice,
                "leave: how long in advance members know; the new communicator is built "
                "meanwhile."),
            field(
                "announced", &P::announced,
                "reconnect: added processes are started beside training."),
            field(
                "died", &P::died,
                "restart, reconnect: removed members die without notice, and the current step is "
                "lost. A failure always behaves so."));
    }
};

struct CheckpointParams {
    Time every;
    bool asynchronous = false;
    static constexpr auto fields() {
        using P = CheckpointParams;
        return list_of(
            field("every", &P::every, "Interval between checkpoints.").required(),
            field(
                "asynchronous", &P::asynchronous,
                "Members wait only for the copy to their host's memory; it is written beside "
                "training. false: they wait until it is written."));
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
    elastic::Method method = elastic::Method::kFailure;
    elastic::Method rejoin = elastic::Method::kJoin;
    static constexpr auto fields() {
        using P = FailureParams;
        return list_of(
            field(
                "per_gpu_day", &P::per_gpu_day,
                "Mean failures per GPU and day; drawn with the experiment's seed.", 0.0, 1e6),
            field("file", &P::file, "CSV with the columns seconds, gpu; instead of a rate."),
            field("repair", &P::repair, "Time until a failed GPU can train again.").required(),
            field(
                "spares", &P::spares,
                "Number of spare GPUs, the lowest that do not train, that replace failed ones.", 0U,
                65'536U),
            field("method", &P::method, "How the remaining members continue: failure or restart."),
            field(
                "rejoin", &P::rejoin,
                "How spares and repaired GPUs join: join, reconnect or restart."));
    }
    void check(ParamChecker& checker) const;
};

/// A run over many steps in which members join and leave; docs/elastic.md.
struct RunParams {
    std::uint64_t steps = 0;
    Time time;
    elastic::Method method = elastic::Method::kRestart;
    elastic::Keep keep = elastic::Keep::kGlobalBatch;
    elastic::Transfer broadcast = elastic::Transfer::kRing;
    PathOr<HostCostsParams> costs;
    std::vector<ChangeParams> changes;
    std::optional<CheckpointParams> checkpoint;
    std::optional<FailureParams> failures;

    /// The changes as written, with their methods.
    [[nodiscard]] std::vector<elastic::Change> written() const;
    static constexpr auto fields() {
        using P = RunParams;
        return list_of(
            field("steps", &P::steps, "Steps of the run. Instead of time."),
            field("time", &P::time, "Duration of the run. Instead of steps."),
            field("method", &P::method, "Method of changes without their own."),
            field(
                "keep", &P::keep,
                "What stays constant when the number of members changes: global_batch, the samples "
                "per step; per_gpu, those of each member."),
            field(
                "broadcast", &P::broadcast,
                "How joiners receive the state: ring, a chain in chunks; tree; scatter, each old "
                "member sends a part; in_switch, one stream replicated by the switches."),
            field(
                "costs", &P::costs,
                "Times of hosts and libraries, or the file with them (configs/costs).")
                .required(),
            field("changes", &P::changes, "Changes of membership, in order of time."),
            field("checkpoint", &P::checkpoint, "Periodic checkpoints. Absent: only at restarts."),
            field("failures", &P::failures, "Failures of GPUs. Absent: only those in changes."));
    }
    void check(ParamChecker& checker) const;
};

}  // namespace switchfold
