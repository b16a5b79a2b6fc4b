// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/nccl_inspector/seats.h"

#include "core/error.h"
#include "core/first_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace switchfold::nccl_inspector {

namespace {

constexpr std::uint64_t kMostMembers = 16'000'000;  // of all communicators together

struct Communicator {
    std::uint32_t ranks = 0;
    std::map<std::uint32_t, const Member*> traced;  ///< by rank in the communicator
};

class Seater {
public:
    explicit Seater(std::vector<Member>& members) : members_(members) {}

    Run run() {
        find_communicators();
        find_seats();
        number_seats();
        std::uint64_t all = 0;
        for (const std::string& id : run_.communicators) {
            all += communicators_.at(id).ranks;
            if (all > kMostMembers)
                throw ConfigError(
                    members_.front().file, "",
                    fmt::format(
                        "lists {} communicators of up to {} ranks; expected fewer",
                        run_.communicators.size(), communicators_.at(id).ranks));
            run_.ranks.push_back(ranks_of(id));
            run_.groups.push_back({fmt::format("communicator {}", id), run_.ranks.back()});
            std::sort(run_.groups.back().ranks.begin(), run_.groups.back().ranks.end());
        }
        return std::move(run_);
    }

private:
    void find_communicators() {
        for (const Member& member : members_) {
            const Place& place = member.place;
            const auto [at, fresh] = communicators_.try_emplace(place.communicator);
            Communicator& communicator = at->second;
            if (fresh) {
                run_.communicators.push_back(place.communicator);
                communicator.ranks = place.ranks;
            }
            if (communicator.ranks != place.ranks)
                throw ConfigError(
                    member.file, "",
                    fmt::format(
                        "says that communicator {} has {} ranks where {} says {}; expected one "
                        "number",
                        place.communicator, place.ranks, communicator.traced.begin()->second->file,
                        communicator.ranks));
            const auto [held, first] = communicator.traced.emplace(place.rank, &member);
            if (!first)
                throw ConfigError(
                    member.file, "",
                    fmt::format(
                        "holds rank {} of communicator {}, which {} holds too for another process; "
                        "expected each rank once",
                        place.rank, place.communicator, held->second->file));
        }
    }

    void find_seats() {
        std::map<std::string, std::vector<Member*>> processes;
        std::vector<std::string> order;
        for (Member& member : members_) {
            std::vector<Member*>& all = processes[member.place.process];
            if (all.empty())
                order.push_back(member.place.process);
            all.push_back(&member);
        }
        for (const std::string& process : order)
            seat_process(processes[process]);
    }

    void seat_process(const std::vector<Member*>& process) {
        std::map<std::string, std::set<std::uint32_t>> ranks;
        for (const Member* member : process)
            ranks[member->place.communicator].insert(member->place.rank);
        const std::set<std::uint32_t>& first = ranks.begin()->second;
        const bool one = std::all_of(
            ranks.begin(), ranks.end(), [](const auto& r) { return r.second.size() == 1; });
        const bool alike = std::all_of(
            ranks.begin(), ranks.end(), [&first](const auto& r) { return r.second == first; });
        if (!one && !alike)
            throw ConfigError(
                process.front()->file, "",
                fmt::format(
                    "is of a process with several GPUs and {} communicators that do not all hold "
                    "the same ranks, so that nothing says which belong to one GPU; expected a "
                    "process for each GPU",
                    ranks.size()));
        std::map<std::uint32_t, std::size_t> seat_of_rank;
        for (Member* member : process) {
            const std::uint32_t key = one ? 0 : member->place.rank;
            const auto [at, fresh] = seat_of_rank.emplace(key, run_.seats.size());
            if (fresh)
                run_.seats.push_back({member->file, 0, {}});
            member->seat = at->second;
        }
    }

    /// The largest communicator to which all seats belong; null if there is none.
    [[nodiscard]] const Communicator* world() const {
        const Communicator* best = nullptr;
        for (const std::string& id : run_.communicators) {
            const Communicator& one = communicators_.at(id);
            std::set<std::size_t> seats;
            for (const auto& [rank, member] : one.traced)
                seats.insert(member->seat);
            if (seats.size() == run_.seats.size() && (best == nullptr || one.ranks > best->ranks))
                best = &one;
        }
        return best;
    }

    void number_seats() {
        world_ = world();
        if (world_ != nullptr) {
            run_.world_size = world_->ranks;
            for (const auto& [rank, member] : world_->traced)
                run_.seats[member->seat].rank = rank;
        } else {
            run_.world_size = static_cast<std::uint32_t>(run_.seats.size());
            std::uint32_t next = 0;
            for (Seat& seat : run_.seats)
                seat.rank = next++;
        }
        if (run_.communicators.size() == 1)
            return;
        run_.seats.front().notes.push_back(
            world_ == nullptr
                ? std::string("the files name no rank of the run, and no communicator holds them "
                              "all: ranks are numbered in the order of the files")
                : fmt::format(
                      "the files name no rank of the run: ranks are those of the largest "
                      "communicator, of {} ranks",
                      run_.world_size));
    }

    std::vector<std::uint32_t> ranks_of(const std::string& id) {
        const Communicator& communicator = communicators_.at(id);
        std::vector<std::uint32_t> ranks;
        if (&communicator == world_) {
            ranks = first_ranks(communicator.ranks);
            return ranks;
        }
        for (const auto& [rank, member] : communicator.traced)
            ranks.push_back(run_.seats[member->seat].rank);
        return ranks.size() == communicator.ranks ? ranks : extended(id, communicator);
    }

    /// All ranks of a communicator some of whose ranks are traced: those of the closest equal
    /// distance that puts every traced rank in its place, as frameworks lay out groups.
    std::vector<std::uint32_t> extended(const std::string& id, const Communicator& communicator) {
        const std::uint64_t count = communicator.ranks;
        const Member& first = *communicator.traced.begin()->second;
        for (std::uint64_t apart = 1; world_ != nullptr && apart * count <= run_.world_size;
             ++apart) {
            const std::uint64_t rank = run_.seats[first.seat].rank;
            const std::uint64_t before = first.place.rank * apart;
            if (rank < before || rank - before + (count - 1) * apart >= run_.world_size)
                continue;
            const std::uint64_t base = rank - before;
            // Groups of one kind do not overlap: they fill blocks.
            const bool in_block =
                base / (apart * count) == (base + (count - 1) * apart) / (apart * count);
            const bool fits = std::all_of(
                communicator.traced.begin(), communicator.traced.end(), [&](const auto& traced) {
                    return run_.seats[traced.second->seat].rank == base + traced.first * apart;
                });
            if (!in_block || !fits)
                continue;
            std::vector<std::uint32_t> ranks;
            for (std::uint64_t i = 0; i < count; ++i)
                ranks.push_back(static_cast<std::uint32_t>(base + i * apart));
            run_.seats[first.seat].notes.push_back(fmt::format(
                "communicator {} has {} ranks, and the files are of {}: taken as ranks {} to {}, "
                "{} apart",
                id, count, communicator.traced.size(), ranks.front(), ranks.back(), apart));
            return ranks;
        }
        throw ConfigError(
            first.file, "",
            fmt::format(
                "is of communicator {} of {} ranks, and the files of {} of them do not say which "
                "ranks the others are; expected the files of all",
                id, count, communicator.traced.size()));
    }

    std::vector<Member>& members_;
    std::map<std::string, Communicator> communicators_;
    const Communicator* world_ = nullptr;
    Run run_;
};

}  // namespace

Run seat(std::vector<Member>& members) {
    return Seater(members).run();
}

}  // namespace switchfold::nccl_inspector
