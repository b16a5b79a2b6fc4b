// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/params.h"
#include "sim/core/units.h"
#include "workloads/changes/host_costs.h"

#include <array>
#include <string_view>
#include <tuple>
#include <utility>

namespace switchfold {

template <>
struct EnumNames<changes::Readers> {
    static constexpr std::array<std::pair<changes::Readers, std::string_view>, 3> kNames{
        {{changes::Readers::kEveryRank, "every_rank"},
         {changes::Readers::kEveryMachine, "every_machine"},
         {changes::Readers::kOne, "one"}}};
};

template <>
struct EnumNames<changes::Writers> {
    static constexpr std::array<std::pair<changes::Writers, std::string_view>, 2> kNames{
        {{changes::Writers::kOne, "one"}, {changes::Writers::kEveryRank, "every_rank"}}};
};

/// Host and library times of membership changes. All fields are required; the file states their
/// sources.
struct HostCostsParams : changes::HostCosts {
    static constexpr auto fields() {
        using P = HostCostsParams;
        constexpr Bandwidth kLeast(1);
        constexpr Bandwidth kMost = gigabytes_per_second(1'000'000);
        return std::tuple{
            field(
                "pod",
                &P::pod,
                "Until a machine or container is there in which a process can start.")
                .required(),
            field(
                "restart_pods",
                &P::restart_pods,
                "A restart takes new pods for all ranks; else for added ones.")
                .required(),
            field(
                "keep_processes",
                &P::keep_processes,
                "Processes are kept alive, with their contexts: nobody starts one.")
                .required(),
            field("detection", &P::detection, "From a request until the members know.").required(),
            field("kill", &P::kill, "Until old processes have ended.").required(),
            field("start", &P::start, "Of a process.").required(),
            field("import", &P::import, "Of its libraries.").required(),
            field("context", &P::context, "Of a GPU's context.").required(),
            field(
                "context_per_gpu",
                &P::context_per_gpu,
                "On top, for each other GPU of the machine (peer access).")
                .required(),
            field("rendezvous", &P::rendezvous, "Agreeing on who takes part.").required(),
            field("skew", &P::skew, "Ranks come to the bootstrap apart by this much.").required(),
            field(
                "bootstrap_step",
                &P::bootstrap_step,
                "Of the TCP ring in which ranks find each other: a message to the next one.")
                .required(),
            field("kernels", &P::kernels, "A process's first communicator loads its kernels.")
                .required(),
            field("allocation", &P::allocation, "Of a communicator's buffers.").required(),
            field("topology", &P::topology, "Search, graphs and the all-gathers between them.")
                .required(),
            field(
                "connection",
                &P::connection,
                "At the first collective, a rank's end of a ring's channel within a machine.")
                .required(),
            field(
                "connection_network",
                &P::connection_network,
                "The same to a rank of another machine.")
                .required(),
            field(
                "warm_connections",
                &P::warm_connections,
                "A prepared communicator makes them beside training, by a collective of its own.")
                .required(),
            field("build", &P::build, "Of the model: weights, compiler, captured graphs.")
                .required(),
            field("data", &P::data, "Until the first batch is there.").required(),
            field(
                "switching",
                &P::switching,
                "To a prepared communicator, with the new division of the batch.")
                .required(),
            field("timeout", &P::timeout, "Until members give up on a rank that is gone.")
                .required(),
            field("abort", &P::abort, "Of what is under way on a communicator.").required(),
            field(
                "storage_write", &P::storage_write, "Of the storage that all share.", kLeast, kMost)
                .required(),
            field("storage_read", &P::storage_read, "Of the storage that all share.", kLeast, kMost)
                .required(),
            field("client", &P::client, "Most that one process writes or reads.", kLeast, kMost)
                .required(),
            field(
                "readers",
                &P::readers,
                "Who reads a checkpoint: every_rank, every_machine (its page cache serves the "
                "others), one.")
                .required(),
            field(
                "writers",
                &P::writers,
                "Who writes one: one, the first member; every_rank, each an equal part.")
                .required()};
    }
};

}  // namespace switchfold
