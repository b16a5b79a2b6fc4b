// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/state_transfer.h"

#include "core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace switchfold::elastic {

namespace {

/// Distinct from the tags of pipeline messages, which count passes.
constexpr std::uint64_t kTag = std::uint64_t{1} << 48U;

/// Operations inserted before a rank's own, each on the named stream.
struct Added {
    std::string stream;
    Operation operation;
};

class TransferWriter {
public:
    TransferWriter(
        ExecutionGraph& graph, const Members& old_members, const Members& joiners, Bytes state) :
        graph_(graph), old_(old_members), joiners_(joiners), state_(state) {
        name_ = static_cast<std::uint32_t>(graph_.names.size());
        graph_.names.emplace_back(kStateTransfer);
    }

    void copy_to_hosts(const std::vector<Bytes>& parts) {
        for (std::size_t i = 0; i < old_.size(); ++i)
            if (parts[i].count() > 0)
                add(old_[i], "state", CopyOperation{CopyKind::kDeviceToHost, parts[i], Time()});
        insert_all();
    }

    void move(const std::vector<StatePiece>& pieces) {
        for (const StatePiece& piece : pieces)
            beside(piece);
        insert_all();
    }

    void write(Transfer transfer) {
        switch (transfer) {
        case Transfer::kRing:
        case Transfer::kInSwitch:
            broadcast();
            break;
        case Transfer::kTree:
            tree();
            break;
        case Transfer::kScatter:
            scatter();
            break;
        }
        insert_all();
    }

private:
    void insert_all() {
        for (auto& [rank, operations] : added_)
            insert(rank, operations);
    }
    void add(std::uint32_t rank, std::string stream, OperationBody body, bool after_last = false) {
        std::vector<Added>& of_rank = added_[rank];
        Operation operation;
        operation.name = name_;
        operation.body = std::move(body);
        if (after_last && !of_rank.empty())
            operation.dependencies.push_back(static_cast<std::uint32_t>(of_rank.size() - 1));
        of_rank.push_back({std::move(stream), std::move(operation)});
    }

    void broadcast() {
        Group group{"state", joiners_};
        group.ranks.push_back(old_.front());
        std::sort(group.ranks.begin(), group.ranks.end());
        CollectiveOperation part;
        part.kind = CollectiveKind::kBroadcast;
        part.bytes = state_;
        part.datatype = Datatype::kUint8;
        part.group = static_cast<std::uint32_t>(graph_.groups.size());
        for (const std::uint32_t rank : group.ranks)
            add(rank, "state", part);
        graph_.groups.push_back(std::move(group));
    }

    void message(std::uint32_t from, std::uint32_t to, Bytes bytes, const std::string& stream) {
        const std::uint64_t tag = kTag + messages_++;
        add(from, stream, SendOperation{to, bytes, tag}, true);
        add(to, stream, ReceiveOperation{from, bytes, tag}, true);
    }

    /// In every round, each rank with the state sends it to one without.
    void tree() {
        std::vector<std::uint32_t> have{old_.front()};
        std::size_t next = 0;
        while (next < joiners_.size()) {
            const std::size_t senders = have.size();
            for (std::size_t s = 0; s < senders && next < joiners_.size(); ++s) {
                message(have[s], joiners_[next], state_, "state");
                have.push_back(joiners_[next++]);
            }
        }
    }

    void scatter() {
        const std::uint64_t parts = old_.size();
        for (std::size_t i = 0; i < parts; ++i) {
            const Bytes part(state_.count() * (i + 1) / parts - state_.count() * i / parts);
            for (const std::uint32_t joiner : joiners_)
                beside({old_[i], joiner, part});
        }
    }

    /// One stream per message, so that all travel concurrently.
    void beside(const StatePiece& piece) {
        const std::uint64_t tag = kTag + messages_++;
        add(piece.from, fmt::format("state to {}", piece.to),
            SendOperation{piece.to, piece.bytes, tag});
        add(piece.to, fmt::format("state from {}", piece.from),
            ReceiveOperation{piece.from, piece.bytes, tag});
    }

    void insert(std::uint32_t rank, std::vector<Added>& operations) {
        if (rank >= graph_.ranks.size())
            graph_.ranks.resize(rank + 1, std::make_shared<const RankGraph>());
        auto made = std::make_shared<RankGraph>(*graph_.ranks[rank]);
        const auto shift = static_cast<std::uint32_t>(operations.size());
        BigVector<Operation> all;
        for (Added& one : operations) {
            one.operation.stream = stream_of(*made, one.stream);
            all.push_back(std::move(one.operation));
        }
        for (Operation operation : made->operations) {
            for (std::uint32_t& dependency : operation.dependencies)
                dependency += shift;
            if (operation.phase == switchfold::Phase::kOptimizer)
                for (std::uint32_t i = 0; i < shift; ++i)
                    operation.dependencies.push_back(i);
            all.push_back(std::move(operation));
        }
        made->operations = std::move(all);
        for (Span& span : made->spans) {
            span.first += shift;
            span.last += shift;
        }
        for (MemoryChange& change : made->memory)
            change.operation += shift;
        graph_.ranks[rank] = std::move(made);
    }

    static std::uint32_t stream_of(RankGraph& rank, const std::string& name) {
        const auto found =
            std::find_if(rank.streams.begin(), rank.streams.end(), [&](const Stream& stream) {
                return stream.name == name;
            });
        if (found != rank.streams.end())
            return static_cast<std::uint32_t>(found - rank.streams.begin());
        rank.streams.push_back({StreamKind::kGpu, name, 0});
        return static_cast<std::uint32_t>(rank.streams.size() - 1);
    }

    ExecutionGraph& graph_;
    const Members& old_;
    const Members& joiners_;
    Bytes state_;
    std::uint32_t name_ = 0;
    std::uint64_t messages_ = 0;
    std::map<std::uint32_t, std::vector<Added>> added_;
};

}  // namespace

void add_transfer(
    ExecutionGraph& graph, const Members& old_members, const Members& joiners, Transfer transfer,
    Bytes state) {
    SWITCHFOLD_CHECK(!old_members.empty() && !joiners.empty(), "nobody to send or to receive");
    TransferWriter(graph, old_members, joiners, state).write(transfer);
}

std::vector<StatePiece> divided_anew(const Members& before, const Members& after, Bytes bytes) {
    const auto bound = [&](std::size_t i, const Members& members) {
        return bytes * i / members.size();
    };
    std::vector<StatePiece> pieces;
    std::size_t i = 0;
    for (std::size_t j = 0; j < after.size(); ++j) {
        const Bytes begin = bound(j, after);
        const Bytes end = bound(j + 1, after);
        while (i > 0 && bound(i, before) > begin)
            --i;
        while (bound(i + 1, before) <= begin && i + 1 < before.size())
            ++i;
        for (; i < before.size() && bound(i, before) < end; ++i) {
            const Bytes from = std::max(begin, bound(i, before));
            const Bytes to = std::min(end, bound(i + 1, before));
            if (before[i] != after[j] && to > from)
                pieces.push_back({before[i], after[j], to - from});
        }
        i = std::min(i, before.size() - 1);
    }
    return pieces;
}

void add_pieces(ExecutionGraph& graph, const std::vector<StatePiece>& pieces) {
    if (!pieces.empty())
        TransferWriter(graph, {}, {}, Bytes()).move(pieces);
}

void add_copies_to_host(
    ExecutionGraph& graph, const Members& members, const std::vector<Bytes>& parts) {
    SWITCHFOLD_CHECK(parts.size() == members.size(), "a part for each member");
    TransferWriter(graph, members, {}, Bytes()).copy_to_hosts(parts);
}

ExecutionGraph moves_alone() {
    ExecutionGraph graph;
    graph.provenance.source = "state to joiners";
    graph.provenance.synthetic = true;
    return graph;
}

ExecutionGraph
transfer_alone(const Members& old_members, const Members& joiners, Transfer transfer, Bytes state) {
    ExecutionGraph graph = moves_alone();
    add_transfer(graph, old_members, joiners, transfer, state);
    return graph;
}

void contribute_zero(ExecutionGraph& graph, const Members& joiners) {
    // Of whom no member waits for: they compute nothing, so they have nothing to exchange.
    const auto among_joiners = [&](const CollectiveOperation& part) {
        const std::vector<std::uint32_t>& ranks = graph.groups[part.group].ranks;
        return std::includes(joiners.begin(), joiners.end(), ranks.begin(), ranks.end());
    };
    for (const std::uint32_t joiner : joiners) {
        auto made = std::make_shared<RankGraph>(*graph.ranks[joiner]);
        for (Operation& operation : made->operations) {
            const auto* part = std::get_if<CollectiveOperation>(&operation.body);
            if (operation.phase != switchfold::Phase::kOptimizer &&
                (part == nullptr || among_joiners(*part)))
                operation.body = HostDelayOperation{};
        }
        made->spans.clear();
        made->memory.clear();
        graph.ranks[joiner] = std::move(made);
    }
}

}  // namespace switchfold::elastic
