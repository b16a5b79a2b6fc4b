// SPDX-License-Identifier: Apache-2.0
#include "interconnect/hop.h"
#include "interconnect/path_finder.h"
#include "models/collectives/shortcuts/kept_machines.h"
#include "models/collectives/shortcuts/rank_symmetry.h"
#include "models/collectives/shortcuts/way_kinds.h"
#include "models/collectives/shortcuts/way_shares.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

constexpr double kSameLoad = 0.01;
constexpr std::uint32_t kFewestMachines = 4;

/// Units of ranks whose numbers are digits of a machine's: machines alone, in groups of equally
/// many, and these in larger ones; the fewest digits first.
std::vector<std::vector<std::uint32_t>>
units_to_try(std::uint32_t members, std::uint32_t machines) {
    std::vector<std::vector<std::uint32_t>> all{{members}};
    const auto divides = [&](std::uint32_t group) { return machines % group == 0; };
    for (std::uint32_t group = 2; group <= machines / 2; ++group)
        if (divides(group))
            all.push_back({members, members * group});
    for (std::uint32_t group = 2; group <= machines / 4; ++group)
        for (std::uint32_t pod = 2 * group; pod <= machines / 2; pod += group)
            if (divides(group) && divides(pod))
                all.push_back({members, members * group, members * pod});
    return all;
}

/// The kept ranks of such units, ascending.
std::vector<std::uint32_t> kept_of(const std::vector<std::uint32_t>& units) {
    std::vector<std::uint32_t> kept(units.front());
    std::iota(kept.begin(), kept.end(), 0U);
    for (const std::uint32_t unit : units) {
        const std::size_t below = kept.size();
        for (std::size_t i = 0; i < below; ++i)
            kept.push_back(kept[i] + unit);
    }
    return kept;
}

/// The kinds of ways from ranks of the first machine to all ranks.
class WaysOut {
public:
    /// Nothing to fold if not `alike()`: a rank of another machine differs from its like in the
    /// first.
    WaysOut(WayKinds& ways, std::uint32_t ranks, std::uint32_t members) : members_(members) {
        for (std::uint32_t rank = members; rank < ranks; ++rank)
            alike_ = alike_ && ways.of_node(rank) == ways.of_node(rank % members);
        const std::uint32_t step = std::max(1U, members * ranks / kMostSearches);
        for (std::uint32_t from = 0; from < members && alike_; from += step) {
            std::vector<std::uint32_t>& kinds = kinds_[from];
            for (std::uint32_t to = 0; to < ranks; ++to)
                kinds.push_back(to == from ? 0 : ways.of(ways.between(from, to)));
        }
    }
    [[nodiscard]] bool alike() const { return alike_; }
    /// Whether they depend on nothing but the two places in machines and which digits differ.
    [[nodiscard]] bool fit(const KeptMachines& machines) const {
        return std::ranges::all_of(kinds_, [&](const auto& out) {
            for (std::uint32_t to = 0; to < out.second.size(); ++to)
                if (out.second[to] != out.second[machines.rank_of(machines.image(out.first, to))])
                    return false;
            return true;
        });
    }
    /// Whether the ways between two kept ranks are like those of the first machine that stand for
    /// the same.
    [[nodiscard]] bool like(
        const KeptMachines& machines, std::uint32_t from, std::uint32_t to,
        std::uint32_t kind) const {
        const auto out = kinds_.find(from % members_);
        const std::uint32_t differ = machines.differing(from, machines.rank_of(to));
        return out == kinds_.end() ||
               out->second[machines.rank_of(differ * members_ + to % members_)] == kind;
    }

private:
    static constexpr std::uint32_t kMostSearches = 2048;
    std::uint32_t members_;
    bool alike_ = true;
    std::map<std::uint32_t, std::vector<std::uint32_t>> kinds_;  ///< by rank of the first machine
};

/// One way to fold the exchange.
class ExchangeFold {
public:
    ExchangeFold(const Topology& topology, WayKinds& ways, const KeptMachines& machines) :
        topology_(topology),
        ways_(ways),
        machines_(machines),
        of_all_(ways.hops().size()),
        of_kept_(2 * topology.edges.size()),
        visits_(topology.nodes.size()) {}

    /// Whether kept machines are as far from each other as those that they stand for, and links
    /// that they use less than all would are not the limit. \pre Ways out fit the kept machines.
    [[nodiscard]] bool works(const WaysOut& out) { return count(out) && loads_alike(); }
    /// Nothing if machines have their parts in different orders.
    [[nodiscard]] std::optional<RankSymmetry> fold() const;

private:
    /// How many of the kept ranks a rank stands for.
    [[nodiscard]] double times() const {
        return static_cast<double>(topology_.gpus()) / machines_.kept();
    }
    /// Counts bytes over links, in parts that one rank has for another.
    [[nodiscard]] bool count(const WaysOut& out) {
        for (std::uint32_t from = 0; from < machines_.kept(); ++from)
            for (std::uint32_t to = 0; to < machines_.kept(); ++to) {
                if (from == to)
                    continue;
                const std::uint32_t rank = machines_.rank_of(to);
                const double parts = machines_.count(machines_.differing(from, rank));
                const std::vector<Path> ways = ways_.between(machines_.rank_of(from), rank);
                if (!out.like(machines_, from, to, ways_.of(ways)))
                    return false;
                for_each_share(ways, parts, [&](std::uint32_t hop, double share) {
                    of_kept_[hop] += share;
                    visits_[topology_.end_of(hop)] += share;
                    of_all_[ways_.of_hop(hop)] += share * times();
                });
            }
        for (std::size_t kind = 0; kind < of_all_.size(); ++kind)
            of_all_[kind] /= ways_.hops()[kind];
        return true;
    }
    [[nodiscard]] std::uint32_t machine_at(std::uint32_t hop) const {
        return topology_.nodes[topology_.end_of(hop)].machine;
    }
    /// Whether the hop carries nothing but one machine's parts, all of which are simulated.
    [[nodiscard]] bool inside(std::uint32_t hop) const {
        return machine_at(hop) != kNoMachine && machine_at(hop) == machine_at(reversed(hop));
    }
    [[nodiscard]] bool loads_alike() const {
        double most = 0;
        for (std::uint32_t hop = 0; hop < of_kept_.size(); ++hop)
            most = std::max(most, of_kept_[hop] / bandwidth_of(topology_, hop));
        for (std::uint32_t hop = 0; hop < of_kept_.size(); ++hop) {
            const double all = of_all_[ways_.of_hop(hop)];
            const bool same = std::abs(all - of_kept_[hop]) < kSameLoad * of_kept_[hop];
            if (of_kept_[hop] > 0 && !inside(hop) && !same &&
                std::max(of_kept_[hop], all) / bandwidth_of(topology_, hop) > kRoomToSpare * most)
                return false;
        }
        return true;
    }
    const Topology& topology_;
    WayKinds& ways_;
    const KeptMachines& machines_;
    std::vector<double> of_all_;   ///< by kind of hop: what one carries of all ranks' parts
    std::vector<double> of_kept_;  ///< by hop: what it carries of the kept ranks' parts
    std::vector<double> visits_;   ///< by node, of the kept ranks' parts
};

/// Hops or nodes, and what passes them.
struct Parts {
    std::vector<std::uint32_t> machine;  ///< of each, or kNoMachine
    std::vector<std::uint32_t> kind;
    const std::vector<double>& of_kept;  ///< over each, of the kept ranks' parts
};

/// Calls set(part, image) for each part that something passes. Machines of one kind have
/// theirs in one order; of the network, those of a kind share what passes all of it. \returns
/// whether that holds. `like`: the kept machine that a machine resembles.
template <class Like, class Set>
bool for_each_image(const Parts& parts, std::uint32_t machines, const Like& like, const Set& set) {
    std::vector<std::vector<std::uint32_t>> at(machines);
    std::map<std::uint32_t, std::vector<std::uint32_t>> used;  // of the network, by kind
    for (std::uint32_t part = 0; part < parts.kind.size(); ++part)
        if (parts.machine[part] != kNoMachine)
            at[parts.machine[part]].push_back(part);
        else if (parts.of_kept[part] > 0)
            used[parts.kind[part]].push_back(part);
    for (std::uint32_t machine = 0; machine < machines; ++machine) {
        const std::vector<std::uint32_t>& images = at[like(machine)];
        if (at[machine].size() != images.size())
            return false;
        for (std::size_t i = 0; i < images.size(); ++i) {
            if (parts.kind[at[machine][i]] != parts.kind[images[i]])
                return false;
            set(at[machine][i], images[i]);
        }
    }
    std::map<std::uint32_t, std::size_t> next;
    for (std::uint32_t part = 0; part < parts.kind.size(); ++part) {
        const std::uint32_t kind = parts.kind[part];
        const auto found = used.find(kind);
        if (parts.machine[part] != kNoMachine || found == used.end())
            continue;
        set(part,
            parts.of_kept[part] > 0 ? part : found->second[next[kind]++ % found->second.size()]);
    }
    return true;
}

std::optional<RankSymmetry> ExchangeFold::fold() const {
    RankSymmetry fold(topology_, topology_.gpus());
    // docs/notebook/performance.md
    fold.error = 0.015;
    fold.typical = 0.003;
    for (std::uint32_t rank = 0; rank < fold.ranks(); ++rank)
        fold.image_of_rank[rank] = machines_.rank_of(machines_.like(rank));
    const auto like = [&](std::uint32_t machine) {
        return fold.image_of_rank[machine * machines_.members()] / machines_.members();
    };
    Parts hops{{}, {}, of_kept_};
    for (std::uint32_t hop = 0; hop < of_kept_.size(); ++hop) {
        hops.machine.push_back(std::min(machine_at(hop), machine_at(reversed(hop))));
        hops.kind.push_back(ways_.of_hop(hop));
    }
    fold.times_of_hop.assign(of_kept_.size(), 1);
    Parts nodes{{}, {}, visits_};
    for (std::uint32_t node = 0; node < visits_.size(); ++node) {
        nodes.machine.push_back(topology_.nodes[node].machine);
        nodes.kind.push_back(ways_.of_node(node));
    }
    const auto set_hop = [&](std::uint32_t hop, std::uint32_t image) {
        fold.image_of_hop[hop] = image;
        if (hops.machine[hop] == kNoMachine)
            fold.times_of_hop[hop] = of_all_[hops.kind[hop]] / of_kept_[image];
    };
    const auto set_node = [&](std::uint32_t node, std::uint32_t image) {
        fold.image_of_node[node] = image;
    };
    const std::uint32_t machines = topology_.machines();
    if (!for_each_image(hops, machines, like, set_hop) ||
        !for_each_image(nodes, machines, like, set_node))
        return std::nullopt;
    return fold;
}

}  // namespace

std::optional<RankSymmetry> fold_exchange(const Topology& topology, const GroupLayout& layout) {
    const auto ranks = static_cast<std::uint32_t>(layout.machine_of.size());
    const auto machines = static_cast<std::uint32_t>(layout.machines.size());
    if (!layout.even() || ranks != topology.gpus() || machines < kFewestMachines)
        return std::nullopt;
    WayKinds ways(topology);
    const std::uint32_t members = ranks / machines;
    const WaysOut out(ways, ranks, members);
    if (!out.alike())
        return std::nullopt;
    std::size_t most = SIZE_MAX;  // digits: more than ways ask for make no link less busy
    for (const auto& units : units_to_try(members, machines)) {
        const KeptMachines kept(kept_of(units), ranks, members);
        if (units.size() > most || kept.kept() > ranks / 2)
            break;
        if (!out.fit(kept))
            continue;
        most = units.size();
        ExchangeFold fold(topology, ways, kept);
        if (fold.works(out))
            return fold.fold();
    }
    return std::nullopt;
}

}  // namespace switchfold
