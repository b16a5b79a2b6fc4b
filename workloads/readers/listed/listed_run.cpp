// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/listed/listed_run.h"

#include "core/error.h"
#include "workloads/readers/listed/counterparts.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>
#include <variant>

namespace switchfold::listed {

namespace {

constexpr std::uint64_t kPsPerNs = 1000;
constexpr std::uint64_t kLongest = UINT64_MAX / 4;  // ps

/// The stream of an operation: its communicator, and of sends and receives also the direction
/// (0: none, 1: to, 2: from) and the peer.
using StreamKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

StreamKey stream_key(const ListedOperation& operation) {
    if (const auto* send = std::get_if<SendOperation>(&operation.body))
        return {operation.communicator, 1, send->peer};
    if (const auto* receive = std::get_if<ReceiveOperation>(&operation.body))
        return {operation.communicator, 2, receive->peer};
    return {operation.communicator, 0, 0};
}

class RankOfList {
public:
    RankOfList(const ListedRun& run, ListedRank rank) : run_(run), rank_(std::move(rank)) {}

    TraceWorkload build() {
        group_by_stream();
        timed_ = std::all_of(
            rank_.operations.begin(), rank_.operations.end(),
            [](const ListedOperation& o) { return o.start_ns != ListedOperation::kNoTime; });
        if (timed_)
            add_by_time();
        else
            add_in_order();
        return finish();
    }

private:
    struct OnStream {
        std::uint32_t index = 0;
        std::vector<std::size_t> operations;  ///< in their order
        std::size_t next = 0;
        std::uint64_t end = 0;  ///< ps since the first start
    };
    struct Placed {
        std::size_t operation = 0;
        OnStream* stream = nullptr;
        std::uint64_t start = 0;
    };

    void group_by_stream() {
        for (std::size_t i = 0; i < rank_.operations.size(); ++i)
            streams_[stream_key(rank_.operations[i])].operations.push_back(i);
        for (auto& [key, stream] : streams_) {
            const auto& [communicator, direction, peer] = key;
            stream.index = static_cast<std::uint32_t>(graph_->streams.size());
            std::string name = run_.communicators[communicator].name;
            if (direction != 0)
                name += fmt::format(" {} {}", direction == 1 ? "to" : "from", peer);
            graph_->streams.push_back({StreamKind::kGpu, std::move(name), 0});
            if (direction == 0)
                std::sort(
                    stream.operations.begin(), stream.operations.end(),
                    [this](std::size_t a, std::size_t b) {
                        return sequence_of(a) < sequence_of(b);
                    });
        }
    }

    [[nodiscard]] std::uint64_t sequence_of(std::size_t operation) const {
        return std::get<CollectiveOperation>(rank_.operations[operation].body).sequence;
    }

    [[noreturn]] void fail_too_long() const {
        throw ConfigError(
            rank_.report.file, "", "holds times more than 53 days apart; expected less");
    }

    void add_in_order() {
        for (const ListedOperation& operation : rank_.operations) {
            OnStream& stream = streams_.at(stream_key(operation));
            const std::size_t i = stream.operations[stream.next++];
            add(i, stream, stream.end, {});
        }
    }

    /// Their times, later if the predecessor on the stream was not done.
    [[nodiscard]] std::vector<Placed> placed() {
        std::uint64_t origin = UINT64_MAX;
        for (const ListedOperation& operation : rank_.operations)
            origin = std::min(origin, operation.start_ns);
        std::vector<Placed> all;
        for (auto& [key, stream] : streams_) {
            std::uint64_t end = 0;
            for (const std::size_t i : stream.operations) {
                const ListedOperation& operation = rank_.operations[i];
                const std::uint64_t since = operation.start_ns - origin;
                if (since > kLongest / kPsPerNs)
                    fail_too_long();
                const std::uint64_t start = std::max(end, since * kPsPerNs);
                if (start > kLongest || operation.duration.count() > kLongest - start)
                    fail_too_long();
                all.push_back({i, &stream, start});
                end = start + operation.duration.count();
            }
        }
        std::stable_sort(all.begin(), all.end(), [](const Placed& a, const Placed& b) {
            return a.start < b.start;
        });
        return all;
    }

    void add_by_time() {
        using End = std::pair<std::uint64_t, std::uint32_t>;  // and the operation
        std::priority_queue<End, std::vector<End>, std::greater<>> running;
        End last{0, UINT32_MAX};  // of those that ended
        for (const Placed& one : placed()) {
            while (!running.empty() && running.top().first <= one.start) {
                last = running.top();
                running.pop();
            }
            // Of the streams that are not its own, if no order of the own says the same.
            const bool waits = !run_.starts_of_calls && last.second != UINT32_MAX &&
                               (one.stream->next == 0 || last.first > one.stream->end);
            std::vector<std::uint32_t> before;
            if (waits)
                before.push_back(last.second);
            ++one.stream->next;
            const std::uint32_t index = add(one.operation, *one.stream, one.start, before);
            running.push({one.stream->end, index});
        }
        warn_of_pauses();
    }

    /// Adds an operation that begins at `start`, ps since the first.
    std::uint32_t
    add(std::size_t i, OnStream& stream, std::uint64_t start,
        const std::vector<std::uint32_t>& before) {
        ListedOperation& listed = rank_.operations[i];
        if (start > kLongest || listed.duration.count() > kLongest - start)
            fail_too_long();
        Operation operation;
        operation.name = names_.intern(run_.names[listed.name]);
        operation.stream = stream.index;
        operation.body = std::move(listed.body);
        if (auto* collective = std::get_if<CollectiveOperation>(&operation.body)) {
            collective->measured = listed.duration;
            if (collective->exchange != 0) {
                exchanges_.push_back(std::move(rank_.exchanges[collective->exchange - 1]));
                collective->exchange = static_cast<std::uint32_t>(exchanges_.size());
            }
        }
        std::uint64_t ready = stream.end;
        for (const std::uint32_t one : before) {
            operation.dependencies.push_back(one);
            ready = std::max(ready, measured_[one].end.count());
        }
        operation.gap = Time(start - ready);
        pauses_ += start - ready;
        stream.end = start + listed.duration.count();
        end_ = std::max(end_, stream.end);
        measured_.push_back({Time(start), Time(stream.end)});
        graph_->operations.push_back(std::move(operation));
        return static_cast<std::uint32_t>(graph_->operations.size() - 1);
    }

    void warn_of_pauses() {
        if (pauses_ > end_ / 10)
            rank_.report.warnings.push_back(fmt::format(
                "streams waited {:.1f} ms for what the file does not list: replayed as fixed "
                "pauses",
                to_microseconds(Time(pauses_)) / 1000));
    }

    void warn_of_order() {
        std::size_t streams = 0;
        for (const auto& [key, stream] : streams_)
            streams += std::get<1>(key) == 0 ? 1 : 0;
        if (streams > 1 && (!timed_ || run_.starts_of_calls))
            rank_.report.warnings.push_back(fmt::format(
                "collectives of {} communicators, and the file does not say how they waited for "
                "each other: they run side by side",
                streams));
    }

    TraceWorkload finish() {
        warn_of_order();
        TraceWorkload workload;
        TraceFileReport& report = rank_.report;
        report.steps = 1;
        count_operations(*graph_, report);
        workload.graph.names = names_.take();
        workload.graph.groups = run_.communicators;
        workload.graph.exchanges = std::move(exchanges_);
        workload.graph.provenance = {report.file, report.gpu_name,   false,
                                     1,           report.world_size, Time(end_)};
        workload.graph.ranks.push_back(std::move(graph_));
        workload.files.push_back(std::move(report));
        workload.measured.push_back(std::move(measured_));
        return workload;
    }

    const ListedRun& run_;
    ListedRank rank_;
    NameTable names_;
    std::map<StreamKey, OnStream> streams_;
    std::shared_ptr<RankGraph> graph_ = std::make_shared<RankGraph>();
    BigVector<TraceWorkload::Measured> measured_;
    std::vector<UnevenExchange> exchanges_;
    std::uint64_t pauses_ = 0;
    std::uint64_t end_ = 0;
    bool timed_ = false;
};

}  // namespace

}  // namespace switchfold::listed

namespace switchfold {

std::vector<TraceWorkload> workloads_of(ListedRun run) {
    match_counterparts(run);
    std::vector<TraceWorkload> workloads;
    for (ListedRank& rank : run.ranks)
        workloads.push_back(listed::RankOfList(run, std::move(rank)).build());
    return workloads;
}

}  // namespace switchfold
