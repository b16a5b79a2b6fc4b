// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/nccl_inspector/reader.h"

#include "core/error.h"
#include "workloads/readers/input/lines.h"
#include "workloads/readers/listed/listed_run.h"
#include "workloads/readers/listed/names.h"
#include "workloads/readers/nccl_inspector/seats.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace switchfold::nccl_inspector {

namespace {

/// What the lines of a member hold, until it is known which ranks are where.
struct Listed {
    std::vector<ListedOperation> operations;  ///< peers are ranks of the communicator
    std::vector<std::uint64_t> lines;         ///< of the operations, among those of all files
    TraceFileReport report;                   ///< the counts alone
    std::uint64_t on_host = 0;
    std::uint64_t lost = 0;
};

class Reader {
public:
    Reader(const std::vector<std::filesystem::path>& files, std::uint64_t most) :
        files_(files), most_(most) {}

    std::vector<TraceWorkload> run() {
        for (const std::filesystem::path& file : files_)
            read(file);
        const Run seated = seat(members_);
        ListedRun run;
        run.names = names_.take();
        run.communicators = seated.groups;
        for (const Seat& seat : seated.seats) {
            ListedRank& rank = run.ranks.emplace_back();
            rank.report.file = seat.file;
            rank.report.format = "NCCL Inspector";
            rank.report.rank = seat.rank;
            rank.report.world_size = seated.world_size;
            rank.report.warnings = seat.notes;
        }
        for (std::size_t m = 0; m < members_.size(); ++m)
            add(m, seated, run.ranks[members_[m].seat]);
        for (std::size_t seat = 0; seat < run.ranks.size(); ++seat)
            put_in_order(seat, run.ranks[seat]);
        warn(run);
        return workloads_of(std::move(run));
    }

private:
    void read(const std::filesystem::path& path) {
        const std::string file = path.string();
        LineReader lines(path, most_);
        std::string text;
        std::optional<std::size_t> member;  // of the statistics before
        std::size_t here = 0;
        while (lines.next(text)) {
            ++line_;
            if (text.find_first_not_of(" \t\r") == std::string::npos)
                continue;
            Line line = parse_line(text, file, lines.number());
            if (line.place && line.place->process.empty())
                line.place->process = file;  // versions that name no process write a file each
            if (line.place)
                member = member_of(*line.place, file);
            if (!member)
                throw ConfigError(
                    file, fmt::format("line {}: /header", lines.number()),
                    "is missing, and no line with statistics comes before; expected the "
                    "communicator and rank");
            take(line, listed_[*member]);
            ++here;
        }
        if (here == 0)
            throw ConfigError(file, "", "is empty; expected lines of NCCL's Inspector");
    }

    std::size_t member_of(const Place& place, const std::string& file) {
        if (!members_.empty() && members_[latest_].place == place)
            return latest_;
        const auto [at, fresh] = index_.emplace(
            std::tuple(place.process, place.communicator, place.rank, place.ranks),
            members_.size());
        if (fresh) {
            members_.push_back({place, file, 0});
            listed_.emplace_back();
        }
        return latest_ = at->second;
    }

    void take(const Line& line, Listed& listed) {
        ++listed.report.events;
        ListedOperation operation;
        switch (line.what) {
        case Line::What::kStatistics:
            ++listed.report.used["statistics"];
            listed.lost += line.lost;
            return;
        case Line::What::kProxy:
            ++listed.report.dropped["records of proxies"];
            return;
        case Line::What::kTransfer:
            if (line.name == "Send")
                operation.body = SendOperation{line.peer, Bytes(line.bytes), 0};
            else
                operation.body = ReceiveOperation{line.peer, Bytes(line.bytes), 0};
            ++listed.report.used["sends and receives"];
            break;
        case Line::What::kCollective: {
            const auto kind = collective_named(line.name);
            if (!kind) {
                ++listed.report.dropped["collectives of unknown kind"];
                return;
            }
            operation.body = collective_of(line, *kind);
            ++listed.report.used["collectives"];
            break;
        }
        }
        operation.name = names_.intern(line.name);
        operation.number = line.number;
        operation.duration = Time(static_cast<std::uint64_t>(line.us * 1e6));
        if (line.start_us)
            operation.start_ns = *line.start_us * 1000;
        listed.on_host += line.timed_on_host ? 1 : 0;
        listed.operations.push_back(std::move(operation));
        listed.lines.push_back(line_);
    }

    static CollectiveOperation collective_of(const Line& line, CollectiveKind kind) {
        CollectiveOperation collective;
        collective.kind = kind;
        collective.bytes = Bytes(line.bytes);
        collective.algorithm = line.algorithm;
        collective.protocol = line.protocol;
        return collective;
    }

    /// Ranks of the communicator become those of the run.
    void add(std::size_t m, const Run& seated, ListedRank& rank) {
        const Member& member = members_[m];
        Listed& listed = listed_[m];
        const auto communicator = static_cast<std::uint32_t>(
            std::find(
                seated.communicators.begin(), seated.communicators.end(),
                member.place.communicator) -
            seated.communicators.begin());
        const std::vector<std::uint32_t>& ranks = seated.ranks[communicator];
        TraceFileReport& report = rank.report;
        report.events += listed.report.events;
        for (const auto& [what, count] : listed.report.used)
            report.used[what] += count;
        for (const auto& [what, count] : listed.report.dropped)
            report.dropped[what] += count;
        on_host_[member.seat] += listed.on_host;
        lost_[member.seat] += listed.lost;
        for (std::size_t i = 0; i < listed.operations.size(); ++i) {
            ListedOperation& operation = listed.operations[i];
            operation.communicator = communicator;
            if (auto* collective = std::get_if<CollectiveOperation>(&operation.body))
                complete(*collective, ranks.size());
            else if (!set_peer(operation, member, communicator, ranks)) {
                ++report.dropped["sends and receives of a rank to itself"];
                continue;
            }
            lines_[member.seat].push_back(listed.lines[i]);
            rank.operations.push_back(std::move(operation));
        }
        listed = {};
    }

    /// NCCL tells the part of one rank.
    static void complete(CollectiveOperation& collective, std::size_t ranks) {
        if (sums_parts(collective.kind))
            collective.bytes = collective.bytes * ranks;
        // Types are not told. Whole numbers of bytes always fit.
        collective.datatype =
            collective.bytes.count() % 4 == 0 ? Datatype::kFloat32 : Datatype::kUint8;
    }

    static bool set_peer(
        ListedOperation& operation, const Member& member, std::uint32_t communicator,
        const std::vector<std::uint32_t>& ranks) {
        const auto set = [&](std::uint32_t& peer, std::uint64_t& tag) {
            if (peer >= ranks.size())
                throw ConfigError(
                    member.file, "",
                    fmt::format(
                        "names rank {} of communicator {} as peer, which has {}; expected one of "
                        "those",
                        peer, member.place.communicator, ranks.size()));
            const bool itself = peer == member.place.rank;
            peer = ranks[peer];
            tag = communicator;
            return !itself;
        };
        if (auto* send = std::get_if<SendOperation>(&operation.body))
            return set(send->peer, send->tag);
        auto& receive = std::get<ReceiveOperation>(operation.body);
        return set(receive.peer, receive.tag);
    }

    /// That of the file, over all communicators of the rank.
    void put_in_order(std::size_t seat, ListedRank& rank) {
        const std::vector<std::uint64_t>& lines = lines_[seat];
        std::vector<std::size_t> order(lines.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            order[i] = i;
        std::sort(order.begin(), order.end(), [&lines](std::size_t a, std::size_t b) {
            return lines[a] < lines[b];
        });
        std::vector<ListedOperation> sorted;
        sorted.reserve(order.size());
        for (const std::size_t i : order)
            sorted.push_back(std::move(rank.operations[i]));
        rank.operations = std::move(sorted);
    }

    /// Collectives between the first and the last of their name whose numbers no line has.
    static std::uint64_t missing(const ListedRank& rank) {
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint64_t>> numbers;
        for (const ListedOperation& operation : rank.operations)
            if (std::holds_alternative<CollectiveOperation>(operation.body))
                numbers[{operation.communicator, operation.name}].insert(operation.number);
        std::uint64_t count = 0;
        for (const auto& [key, all] : numbers)
            count += *all.rbegin() - *all.begin() + 1 - all.size();
        return count;
    }

    void warn(ListedRun& run) {
        for (std::size_t seat = 0; seat < run.ranks.size(); ++seat) {
            ListedRank& rank = run.ranks[seat];
            std::vector<std::string>& notes = rank.report.warnings;
            if (const std::uint64_t count = missing(rank); count > 0)
                notes.push_back(fmt::format(
                    "{} collectives are not in the file: their numbers are missing between those "
                    "of others",
                    count));
            if (lost_[seat] > 0)
                notes.push_back(fmt::format(
                    "the Inspector lost {} records before it wrote them: "
                    "NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS makes it write more often",
                    lost_[seat]));
            if (on_host_[seat] > 0)
                notes.push_back(
                    fmt::format("{} times were taken by the host, not by the GPU", on_host_[seat]));
        }
        run.ranks.front().report.warnings.emplace_back(
            "the Inspector names no types: sizes that are whole numbers of float32 are taken as "
            "such");
    }

    const std::vector<std::filesystem::path>& files_;
    std::uint64_t most_;
    NameTable names_;
    std::vector<Member> members_;
    std::vector<Listed> listed_;  ///< by member
    std::map<std::tuple<std::string, std::string, std::uint32_t, std::uint32_t>, std::size_t>
        index_;                                                ///< of members
    std::size_t latest_ = 0;                                   ///< the member of the line before
    std::uint64_t line_ = 0;                                   ///< of all files
    std::map<std::size_t, std::vector<std::uint64_t>> lines_;  ///< of the operations, by seat
    std::map<std::size_t, std::uint64_t> on_host_;
    std::map<std::size_t, std::uint64_t> lost_;
};

}  // namespace

}  // namespace switchfold::nccl_inspector

namespace switchfold {

std::vector<TraceWorkload>
read_nccl_inspector(const std::vector<std::filesystem::path>& files, std::uint64_t most) {
    return nccl_inspector::Reader(files, most).run();
}

}  // namespace switchfold
