// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"
#include "training/elastic/host_costs.h"

#include <array>
#include <string_view>
#include <utility>

namespace switchfold {

template <>
struct EnumNames<elastic::Readers> {
    static constexpr std::array<std::pair<elastic::Readers, std::string_view>, 3> kNames{
        {{elastic::Readers::kEveryRank, "every_rank"},
         {elastic::Readers::kEveryMachine, "every_machine"},
         {elastic::Readers::kOne, "one"}}};
};

template <>
struct EnumNames<elastic::Writers> {
    static constexpr std::array<std::pair<elastic::Writers, std::string_view>, 2> kNames{
        {{elastic::Writers::kOne, "one"}, {elastic::Writers::kEveryRank, "every_rank"}}};
};

/// Host and library times of membership changes. All times and rates are required; the file states
/// their sources.
struct HostCostsParams : elastic::HostCosts {
    static constexpr auto fields() {
        using P = HostCostsParams;
        constexpr Bandwidth kLeast(1);
        constexpr Bandwidth kMost = gigabytes_per_second(1'000'000);
        return list_of(
            field("pod", &P::pod, "Time until a machine or container is ready to start a process.")
                .required(),
            field(
                "restart_pods", &P::restart_pods,
                "A restart needs new pods for all ranks; false: only for added ones.")
                .required(),
            field(
                "keep_processes", &P::keep_processes,
                "A restart keeps existing processes and their contexts.")
                .required(),
            field(
                "detection", &P::detection,
                "Time from a request or death until all members know of it.")
                .required(),
            field(
                "poll", &P::poll,
                "Kept processes: time between two looks of a process that waits for work.")
                .required(),
            field("kill", &P::kill, "Time until old processes have ended.").required(),
            field("start", &P::start, "Time to start a process.").required(),
            field("import", &P::import, "Time to import its libraries.").required(),
            field("context", &P::context, "Time to create a GPU's context.").required(),
            field(
                "context_per_gpu", &P::context_per_gpu,
                "Additional time for each other GPU of the machine (peer access).")
                .required(),
            field("rendezvous", &P::rendezvous, "Time to agree on the participants.").required(),
            field("skew", &P::skew, "Spread of the ranks' arrivals at the bootstrap.").required(),
            field(
                "bootstrap_step", &P::bootstrap_step,
                "Time of one step of the TCP ring by which ranks find each other: a message to the "
                "next rank.")
                .required(),
            field(
                "kernels", &P::kernels,
                "Time in which a process's first communicator loads its kernels.")
                .required(),
            field("allocation", &P::allocation, "Time to allocate a communicator's buffers.")
                .required(),
            field(
                "topology", &P::topology,
                "Time of the topology search, its graphs and the all-gathers between them.")
                .required(),
            field(
                "connection", &P::connection,
                "Time to connect a rank's end of a ring channel within a machine, at the first "
                "collective.")
                .required(),
            field(
                "connection_network", &P::connection_network,
                "The same for a rank of another machine.")
                .required(),
            field(
                "warm_connections", &P::warm_connections,
                "A prepared communicator connects beside training, by its own collective.")
                .required(),
            field(
                "build", &P::build, "Time to build the model: weights, compiler, captured graphs.")
                .required(),
            field("data", &P::data, "Time until the first batch is available.").required(),
            field(
                "switching", &P::switching,
                "Time to switch to a prepared communicator and redistribute the batch.")
                .required(),
            field(
                "sync_weights", &P::sync_weights,
                "After a join, leave or failure members wrap the network anew, which sends the "
                "first member's weights to all (init_sync of PyTorch's DistributedDataParallel); "
                "false: they only change the communicator."),
            field("timeout", &P::timeout, "Time until members give up on a dead rank.").required(),
            field("abort", &P::abort, "Time to abort a communicator's pending work.").required(),
            field("storage_write", &P::storage_write, "Rate of the shared storage.", kLeast, kMost)
                .required(),
            field("storage_read", &P::storage_read, "Rate of the shared storage.", kLeast, kMost)
                .required(),
            field(
                "client", &P::client, "Rate limit of one process, writing or reading.", kLeast,
                kMost)
                .required(),
            field(
                "readers", &P::readers,
                "Readers of a checkpoint: every_rank, every_machine (its page cache serves the "
                "machine's other ranks), one (which sends it to the others).")
                .required(),
            field(
                "writers", &P::writers,
                "Writers of a checkpoint: one, the first member; every_rank, each an equal part.")
                .required());
    }
};

}  // namespace switchfold
