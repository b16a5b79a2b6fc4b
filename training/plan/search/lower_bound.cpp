// SPDX-License-Identifier: Apache-2.0
#include "training/plan/search/lower_bound.h"

#include "training/plan/schedule/pass_needs.h"
#include "training/plan/step/rank_map.h"
#include "training/plan/step/update_kernels.h"
#include "workloads/graph/execution_graph.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace switchfold {

namespace {

/// Lower bounds (s) on one pass.
struct PassFloor {
    double end = 0;         ///< from the pass's begin to the end of its computation
    double gradients = 0;   ///< from the pass's begin to the end of its last gradient collective
    double arithmetic = 0;  ///< sum of its kernels
    double port = 0;        ///< time that its collectives keep a GPU's links busy
};

class Bound {
public:
    /// `steps`: by device, of the ranks at this place of each.
    Bound(std::vector<const TrainingStep*> steps, const RankPlace& place, const LinkFloor& floor) :
        steps_(std::move(steps)),
        place_(place),
        plan_(steps_.front()->plan()),
        work_(steps_.front()->work()),
        schedule_(steps_.front()->schedule()),
        map_(plan_),
        floor_(floor),
        devices_(schedule_.devices()) {}

    PlanBound run() {
        run_passes();
        reduce_gradients();
        update();
        PlanBound bound;
        for (const Device& device : devices_) {
            bound.arithmetic = std::max(bound.arithmetic, device.arithmetic);
            bound.links = std::max(bound.links, device.port);
            bound.path = std::max(bound.path, device.end);
        }
        return bound;
    }

private:
    struct Device {
        std::vector<double> ends;  ///< end of each slot so far
        double end = 0;
        double gradients = 0;  ///< end of the last gradient collective
        double arithmetic = 0;
        double port = 0;
    };

    /// The representative rank of a device.
    [[nodiscard]] std::uint32_t rank_of(std::uint32_t device) const {
        RankPlace place = place_;
        place.device = device;
        return map_.rank(place);
    }

    /// Ranks that hold the stages of these devices, with or without replicas.
    [[nodiscard]] std::vector<std::uint32_t>
    holders(const std::set<std::uint32_t>& devices, bool replicas) const {
        std::set<std::uint32_t> ranks;
        for (const std::uint32_t device : devices) {
            ranks.insert(rank_of(device));
            if (replicas)
                for (const std::uint32_t rank : map_.replicas(rank_of(device)))
                    ranks.insert(rank);
        }
        return {ranks.begin(), ranks.end()};
    }
    [[nodiscard]] const std::vector<std::uint32_t>& team(std::uint32_t stage) {
        const auto [at, fresh] = teams_.try_emplace(stage);
        if (fresh)
            at->second = holders(schedule_.devices_with(stage), true);
        return at->second;
    }

    double
    collective(CollectiveKind kind, double bytes, const std::vector<std::uint32_t>& ranks) const {
        return ranks.size() > 1 && bytes > 0 ? floor_.collective(kind, bytes, ranks) : 0;
    }
    double port(CollectiveKind kind, double bytes, std::size_t ranks) const {
        return ranks > 1 && bytes > 0 ? floor_.port(kind, bytes, ranks) : 0;
    }
    [[nodiscard]] CollectiveKind reducing() const {
        return plan_.sharding == Sharding::kNone ? CollectiveKind::kAllReduce
                                                 : CollectiveKind::kReduceScatter;
    }

    /// Follows a pass item by item: kernels wait for each other and for collectives, a group's
    /// collectives for each other. Experts' gradients and gathers are left out, because they may
    /// begin before the pass and end after it. `begun`: gradients of the stage were already sent in
    /// this step.
    PassFloor follow(const Pass& pass, std::uint32_t device, bool reduces, bool begun) {
        PassFloor pass_floor;
        double now = 0;
        double beside = 0;
        std::array<double, kSharings> streams{};  // time when each is free, by kind of sharing
        double pending = 0;
        bool any = begun;
        const auto flush = [&] {
            const double bytes = std::exchange(pending, 0);
            any = true;
            if (bytes == 0)
                return;
            pass_floor.gradients = std::max(pass_floor.gradients, now) +
                                   collective(reducing(), bytes, team(pass.stage));
            pass_floor.port += port(reducing(), bytes, team(pass.stage).size());
        };
        for (const WorkItem& item : steps_[device]->work().work(pass.kind, pass.stage)) {
            if (const auto* kernel = std::get_if<KernelItem>(&item)) {
                const double seconds = to_seconds(kernel->kernel.isolated);
                now += seconds;
                pass_floor.arithmetic += seconds;
            } else if (const auto* c = std::get_if<CollectiveItem>(&item)) {
                const auto bytes = static_cast<double>(c->bytes.count());
                const std::vector<std::uint32_t> ranks = map_.sharing(c->sharing, rank_of(device));
                double& stream = streams[static_cast<std::size_t>(c->sharing)];
                stream = std::max(stream, now) + collective(c->kind, bytes, ranks);
                if (c->sharing != Sharing::kExpertRail)  // leaves by another port
                    pass_floor.port += port(c->kind, bytes, ranks.size());
                if (c->beside)
                    beside = std::max(beside, stream);
                else
                    now = stream;
            } else if (std::holds_alternative<JoinItem>(item)) {
                now = std::max(now, beside);
            } else if (const auto* gather = std::get_if<GatherItem>(&item)) {
                if (!gather->left)
                    pass_floor.port += port(
                        CollectiveKind::kAllGather, static_cast<double>(gather->bytes.count()),
                        team(pass.stage).size());
            } else if (const auto* made = std::get_if<GradientsItem>(&item)) {
                if (!reduces || work_.layers().shared_by_experts(made->layer))
                    continue;
                pending += work_.layers().parameters(made->layer) * element_bytes(plan_.gradient);
                const Bytes limit = any ? plan_.bucket : plan_.first_bucket;
                if (plan_.unit.count() > 0 ? work_.closes_unit(made->layer)
                                           : pending >= static_cast<double>(limit.count()))
                    flush();
            }
        }
        if (reduces)
            flush();
        pass_floor.end = now;
        return pass_floor;
    }

    const PassFloor& floor_of(const Pass& pass, std::uint32_t device, bool reduces) {
        const bool begun = reduces && !reduced_.insert({device, pass.stage}).second;
        const auto key = std::tuple(pass.kind, pass.stage, device, reduces, begun);
        const auto found = passes_.find(key);
        if (found != passes_.end())
            return found->second;
        return passes_.emplace(key, follow(pass, device, reduces, begun)).first->second;
    }

    static bool makes_gradients(const Pass& pass) {
        return pass.kind == PassKind::kBackward || pass.kind == PassKind::kWeightGradient;
    }

    /// The last pass on a device, for each stage, that computes gradients of its weights.
    [[nodiscard]] std::set<std::pair<std::uint32_t, std::size_t>>
    last_gradients(std::uint32_t device) const {
        std::map<std::uint32_t, std::size_t> last;
        const std::vector<Slot>& order = schedule_.order[device];
        for (std::size_t at = 0; at < order.size(); ++at)
            for_each_pass(order[at], [&](const Pass& pass) {
                if (makes_gradients(pass))
                    last[pass.stage] = at;
            });
        return {last.begin(), last.end()};
    }

    void run_passes() {
        std::vector<std::set<std::pair<std::uint32_t, std::size_t>>> last;
        for (std::uint32_t device = 0; device < schedule_.devices(); ++device)
            last.push_back(last_gradients(device));
        walk(schedule_, [&](const PassTable& table, std::uint32_t device, std::size_t at) {
            const Slot& slot = schedule_.order[device][at];
            Device& d = devices_[device];
            if (slot.pass.kind == PassKind::kUpdate) {
                d.ends.push_back(d.end);
                return;
            }
            const double before = d.end;
            double busy = 0;
            for_each_pass(slot, [&](const Pass& pass) {
                const bool completes =
                    makes_gradients(pass) && last[device].contains({pass.stage, at});
                const bool reduces = plan_.overlap_gradients && makes_gradients(pass) &&
                                     (completes || plan_.sharding >= Sharding::kGradients);
                const PassFloor& f = floor_of(pass, device, reduces);
                double begin = before;
                for_each_need(schedule_, pass, [&](const Pass& need) {
                    const PassTable::Place& place = table.at(need);
                    double ready = devices_[place.device].ends[place.slot];
                    if (place.device != device)
                        ready += message(need, pass, place.device, device);
                    begin = std::max(begin, ready);
                });
                d.end = std::max(d.end, begin + f.end);
                if (reduces)
                    d.gradients = std::max(d.gradients, begin + f.gradients);
                // Kernels of two concurrent passes may run at the same time.
                busy = std::max(busy, f.arithmetic);
                d.port += f.port;
                if (const auto to = receiver_of(schedule_, pass))
                    d.port += floor_.message(
                        message_bytes(pass, *to), rank_of(device),
                        rank_of(schedule_.device_of(*to)));
            });
            d.arithmetic += busy;
            d.ends.push_back(d.end);
        });
    }

    [[nodiscard]] double message_bytes(const Pass& from, const Pass& to) const {
        return static_cast<double>(work_.message(std::min(from.stage, to.stage)).count());
    }
    [[nodiscard]] double
    message(const Pass& need, const Pass& pass, std::uint32_t from, std::uint32_t to) const {
        return floor_.message(message_bytes(need, pass), rank_of(from), rank_of(to));
    }

    /// Collectives after all passes, and those for weights that two stages share.
    void reduce_gradients() {
        for (std::uint32_t device = 0; device < schedule_.devices(); ++device) {
            Device& d = devices_[device];
            if (!plan_.overlap_gradients)
                for (const std::uint32_t stage : schedule_.stages_on(device)) {
                    const double bytes =
                        (work_.parameters(stage) - work_.expert_parameters(stage)) *
                        element_bytes(plan_.gradient);
                    d.end += collective(reducing(), bytes, team(stage));
                    d.port += port(reducing(), bytes, team(stage).size());
                }
            d.end = std::max(d.end, d.gradients);
        }
        for (std::uint32_t user = 0; user < work_.stages(); ++user)
            if (const auto layer = work_.shared_layer(user))
                reduce_tied(user, *layer);
        if (schedule_.no_barrier)
            return;
        double all = 0;  // ranks that agree on the norm of the gradients
        for (const Device& device : devices_)
            all = std::max(all, device.end);
        for (Device& device : devices_)
            device.end = all;
    }

    void reduce_tied(std::uint32_t user, std::uint32_t layer) {
        std::set<std::uint32_t> devices = schedule_.devices_with(user);
        devices.merge(schedule_.devices_with(work_.stage_of(layer)));
        double begin = 0;
        for (const std::uint32_t device : devices)
            begin = std::max(begin, devices_[device].end);
        const double bytes = work_.layers().parameters(layer) * element_bytes(plan_.gradient);
        const double end =
            begin + collective(CollectiveKind::kAllReduce, bytes, holders(devices, false));
        if (devices.size() > 1)
            for (const std::uint32_t device : devices) {
                devices_[device].end = end;
                devices_[device].port += port(CollectiveKind::kAllReduce, bytes, devices.size());
            }
    }

    void update() {
        const bool gathers =
            plan_.sharding == Sharding::kOptimizer || plan_.sharding == Sharding::kGradients;
        for (std::uint32_t device = 0; device < schedule_.devices(); ++device) {
            Device& d = devices_[device];
            for (const std::uint32_t stage : schedule_.stages_on(device)) {
                const double parameters = work_.parameters(stage) - work_.expert_parameters(stage);
                const std::size_t ranks = team(stage).size();
                const double held =
                    parameters /
                    (plan_.sharding == Sharding::kNone ? 1 : static_cast<double>(ranks));
                const double seconds = update_seconds(steps_[device]->times(), plan_, held);
                d.end += seconds;
                d.arithmetic += seconds;
                if (!gathers)
                    continue;
                const double bytes =
                    gathered_bytes(plan_, parameters, work_.rounded_parameters(stage, false));
                d.end += collective(CollectiveKind::kAllGather, bytes, team(stage));
                d.port += port(CollectiveKind::kAllGather, bytes, ranks);
            }
        }
    }

    std::vector<const TrainingStep*> steps_;
    RankPlace place_;
    const ParallelPlan& plan_;
    const StageWork& work_;
    const PipelineSchedule& schedule_;
    RankMap map_;
    const LinkFloor& floor_;
    std::vector<Device> devices_;
    std::map<std::uint32_t, std::vector<std::uint32_t>> teams_;  ///< by stage
    std::map<std::tuple<PassKind, std::uint32_t, std::uint32_t, bool, bool>, PassFloor> passes_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> reduced_;  ///< devices and stages
};

}  // namespace

PlanBound plan_bound(const TrainingStep& step, const LinkFloor& floor) {
    const std::vector<const TrainingStep*> steps(step.schedule().devices(), &step);
    return Bound(steps, {}, floor).run();
}

PlanBound plan_bound(const std::vector<const TrainingStep*>& by_rank, const LinkFloor& floor) {
    const RankMap map(by_rank.front()->plan());
    std::set<std::vector<const TrainingStep*>> known;
    PlanBound largest;
    for (std::uint32_t rank = 0; rank < map.ranks(); ++rank) {
        RankPlace place = map.place(rank);
        if (place.device != 0)
            continue;
        std::vector<const TrainingStep*> steps;
        for (; place.device < by_rank.front()->schedule().devices(); ++place.device)
            steps.push_back(by_rank[map.rank(place)]);
        if (!known.insert(steps).second)
            continue;
        const PlanBound bound = Bound(std::move(steps), map.place(rank), floor).run();
        largest.arithmetic = std::max(largest.arithmetic, bound.arithmetic);
        largest.links = std::max(largest.links, bound.links);
        largest.path = std::max(largest.path, bound.path);
    }
    return largest;
}

}  // namespace switchfold
