// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/flight_recorder/reader.h"

#include "core/error.h"
#include "core/first_ranks.h"
#include "core/text.h"
#include "workloads/graph/group_table.h"
#include "workloads/readers/flight_recorder/dump.h"
#include "workloads/readers/flight_recorder/stated_parts.h"
#include "workloads/readers/listed/listed_run.h"
#include "workloads/readers/listed/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace switchfold::flight_recorder {

namespace {

constexpr std::uint64_t kMostMembers = 16'000'000;  // of all process groups of all dumps

/// The number behind the last "rank" of a file's name: "nccl_trace_rank_3", "rank3.json".
std::optional<std::uint32_t> rank_of_name(const std::filesystem::path& file) {
    const std::string name = lower(file.filename().string());
    constexpr std::string_view kWord = "rank";
    const std::size_t word = name.rfind(kWord);
    if (word == std::string::npos)
        return std::nullopt;
    std::size_t at = word + kWord.size();
    if (at < name.size() && (name[at] == '_' || name[at] == '-' || name[at] == '.'))
        ++at;
    std::uint32_t rank = 0;
    const auto [end, code] = std::from_chars(name.data() + at, name.data() + name.size(), rank);
    return code == std::errc{} ? std::optional(rank) : std::nullopt;
}

class Reader {
public:
    explicit Reader(const std::vector<std::filesystem::path>& files) : files_(files) {}

    std::vector<TraceWorkload> run(std::uint64_t most) {
        run_.starts_of_calls = true;
        for (const std::filesystem::path& file : files_)
            dumps_.push_back(read_dump(file, most));
        set_world();
        for (std::size_t i = 0; i < files_.size(); ++i)
            begin(i);
        for (std::size_t i = 0; i < files_.size(); ++i)
            add(i);
        run_.names = names_.take();
        return workloads_of(std::move(run_));
    }

private:
    /// As many as the largest process group names.
    void set_world() {
        world_ = static_cast<std::uint32_t>(files_.size());
        for (const Dump& dump : dumps_) {
            if (const auto all = dump.members.find(dump.default_group); all != dump.members.end())
                world_ = std::max(world_, static_cast<std::uint32_t>(all->second.size()));
            for (const auto& [name, members] : dump.members)
                if (!members.empty())
                    world_ = std::max(world_, members.back() + 1);
        }
    }

    /// Names the rank, and takes what it says of all-to-alls.
    void begin(std::size_t i) {
        Dump& dump = dumps_[i];
        ListedRank& rank = run_.ranks.emplace_back();
        TraceFileReport& report = rank.report;
        report.file = files_[i].string();
        report.format = "PyTorch flight recorder";
        report.world_size = world_;
        const auto named = rank_of_name(files_[i]);
        report.rank = named.value_or(static_cast<std::uint32_t>(i));
        if (!named && world_ > 1)
            report.warnings.push_back(fmt::format(
                "neither the dump nor the file's name says the rank: taken as {}, its place among "
                "the files",
                i));
        if (report.rank >= world_)
            throw ConfigError(
                report.file, "/pg_config",
                fmt::format(
                    "names {} ranks, and the file's name says rank {}; expected a rank below that",
                    world_, report.rank));
        report.events = dump.all;
        report.used = std::move(dump.used);
        report.dropped = std::move(dump.dropped);
        const std::vector<std::uint32_t>& groups = groups_.emplace_back(groups_of(dump, report));
        for (const Entry& entry : dump.entries)
            if (is_all_to_all(entry)) {
                const std::vector<std::uint32_t>& members =
                    run_.communicators[groups[entry.group]].ranks;
                const auto own = std::lower_bound(members.begin(), members.end(), report.rank);
                parts_.add(
                    i, entry, groups[entry.group],
                    static_cast<std::uint32_t>(own - members.begin()),
                    static_cast<std::uint32_t>(members.size()));
            }
    }

    static bool is_all_to_all(const Entry& entry) {
        return entry.what == Entry::What::kCollective && entry.kind == CollectiveKind::kAllToAll;
    }

    void add(std::size_t i) {
        Dump& dump = dumps_[i];
        ListedRank& rank = run_.ranks[i];
        for (Entry& entry : dump.entries)
            add(i, entry, groups_[i][entry.group], rank);
        warn(dump, rank);
        dump = {};
    }

    /// Indices of the dump's process groups in the run.
    std::vector<std::uint32_t> groups_of(const Dump& dump, TraceFileReport& report) {
        std::vector<std::uint32_t> groups;
        for (const std::string& name : dump.groups) {
            const auto known = dump.members.find(name);
            Group group{name.empty() ? "world" : fmt::format("group {}", name), {}};
            if (known != dump.members.end() && !known->second.empty()) {
                group.ranks = known->second;
            } else {
                group.ranks = first_ranks(world_);
                report.warnings.push_back(fmt::format(
                    "pg_config does not list process group {}: taken as all {} ranks",
                    name.empty() ? "of calls that name none" : name, world_));
            }
            if (!std::binary_search(group.ranks.begin(), group.ranks.end(), report.rank))
                throw ConfigError(
                    report.file, fmt::format("/pg_config/{}", name),
                    fmt::format(
                        "does not hold rank {}, which calls it; expected the file's name to end in "
                        "its rank, as in nccl_trace_rank_0",
                        report.rank));
            members_ += group.ranks.size();
            if (members_ > kMostMembers)
                throw ConfigError(
                    report.file, "/pg_config",
                    fmt::format(
                        "holds {} process groups of up to {} ranks; expected fewer",
                        dump.groups.size(), world_));
            groups.push_back(table_.index(std::move(group)));
        }
        return groups;
    }

    void add(std::size_t i, const Entry& entry, std::uint32_t group, ListedRank& rank) {
        const Dump& dump = dumps_[i];
        const std::vector<std::uint32_t>& members = run_.communicators[group].ranks;
        ListedOperation operation;
        operation.name = names_.intern(dump.names[entry.name]);
        operation.communicator = group;
        operation.number = entry.number;
        operation.start_ns = entry.created_ns;
        operation.duration = entry.duration;
        if (entry.what == Entry::What::kCollective) {
            CollectiveOperation collective = collective_of(entry, members.size());
            if (is_all_to_all(entry))
                take_parts(parts_.next(i, entry), rank, collective);
            operation.body = collective;
        } else {
            if (entry.own >= members.size() || entry.peer >= members.size() ||
                members[entry.own] != rank.report.rank)
                throw ConfigError(
                    rank.report.file, "/entries",
                    fmt::format(
                        "hold a call between ranks {} and {} of {}, which has {} ranks, and this "
                        "is "
                        "rank {}; expected calls of this rank",
                        entry.own, entry.peer, run_.communicators[group].name, members.size(),
                        rank.report.rank));
            if (entry.own == entry.peer) {
                ++rank.report.dropped["sends and receives of a rank to itself"];
                return;
            }
            const std::optional<std::uint64_t> told =
                entry.in.bytes ? entry.in.bytes : entry.out.bytes;
            if (!told) {
                ++rank.report.dropped["sends and receives of unknown size"];
                return;
            }
            const Bytes bytes(*told);
            if (entry.what == Entry::What::kSend)
                operation.body = SendOperation{members[entry.peer], bytes, group};
            else
                operation.body = ReceiveOperation{members[entry.peer], bytes, group};
        }
        rank.operations.push_back(std::move(operation));
    }

    CollectiveOperation collective_of(const Entry& entry, std::uint64_t members) {
        CollectiveOperation collective;
        collective.kind = entry.kind;
        collective.datatype =
            entry.in.datatype.value_or(entry.out.datatype.value_or(Datatype::kFloat32));
        const std::optional<std::uint64_t> bytes = size_of_call(entry, members);
        collective.bytes = Bytes(bytes.value_or(0));
        collective.size_source =
            bytes.value_or(0) > 0 ? SizeSource::kTrace : SizeSource::kEstimatedFromDuration;
        return collective;
    }

    void take_parts(StatedParts::Parts parts, ListedRank& rank, CollectiveOperation& collective) {
        uneven_ += parts.uneven && !parts.exchange ? 1 : 0;
        proportional_ += parts.from == StatedParts::From::kSums ? 1 : 0;
        if (!parts.exchange)
            return;
        rank.exchanges.push_back(std::move(*parts.exchange));
        collective.exchange = static_cast<std::uint32_t>(rank.exchanges.size());
    }

    /// As nccl-tests counts it: of the side that holds what all ranks hold together.
    static std::optional<std::uint64_t> size_of_call(const Entry& entry, std::uint64_t members) {
        const auto times = [members](std::optional<std::uint64_t> part) {
            return part ? std::optional(*part * members) : std::nullopt;
        };
        switch (entry.kind) {
        case CollectiveKind::kAllGather:
            return entry.out.bytes ? entry.out.bytes : times(entry.in.bytes);
        case CollectiveKind::kReduceScatter:
            return entry.in.bytes ? entry.in.bytes : times(entry.out.bytes);
        case CollectiveKind::kGather:  // only the root has all
            return times(entry.in.bytes);
        case CollectiveKind::kScatter:
            return times(entry.out.bytes);
        default:
            return entry.in.bytes ? entry.in.bytes : entry.out.bytes;
        }
    }

    void warn(const Dump& dump, ListedRank& rank) {
        std::vector<std::string>& notes = rank.report.warnings;
        const bool none = std::all_of(
            rank.operations.begin(), rank.operations.end(),
            [](const ListedOperation& o) { return o.duration == Time(); });
        if (none && !rank.operations.empty())
            notes.emplace_back(
                "no call has a duration: a run with TORCH_NCCL_ENABLE_TIMING=1 records them");
        if (!rank.operations.empty())
            notes.emplace_back(
                "starts are those of the calls: the recorder knows no times of kernels");
        if (dump.unfinished > 0)
            notes.push_back(fmt::format(
                "{} calls had not completed when the dump was written", dump.unfinished));
        if (uneven_ > 0)
            notes.push_back(
                fmt::format("{} all-to-alls of unequal parts: replayed with equal ones", uneven_));
        if (proportional_ > 0)
            notes.push_back(fmt::format(
                "{} all-to-alls state only what each rank sends and receives in all: each is taken "
                "to send to another in proportion to what that one receives",
                proportional_));
        uneven_ = proportional_ = 0;
    }

    const std::vector<std::filesystem::path>& files_;
    std::vector<Dump> dumps_;
    std::uint32_t world_ = 1;
    ListedRun run_;
    NameTable names_;
    GroupTable table_{run_.communicators};
    std::uint64_t members_ = 0;
    std::vector<std::vector<std::uint32_t>> groups_;  ///< by dump: its groups in the run
    StatedParts parts_;
    std::uint64_t uneven_ = 0;        ///< of the current rank: parts that nobody states
    std::uint64_t proportional_ = 0;  ///< of the current rank: parts that follow from sums
};

}  // namespace

}  // namespace switchfold::flight_recorder

namespace switchfold {

std::vector<TraceWorkload>
read_flight_recorder(const std::vector<std::filesystem::path>& files, std::uint64_t most) {
    return flight_recorder::Reader(files).run(most);
}

}  // namespace switchfold
