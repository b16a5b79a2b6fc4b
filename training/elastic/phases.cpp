// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/phases.h"

#include <algorithm>
#include <utility>

namespace switchfold::elastic {

namespace {

class Writer {
public:
    Writer(const ChangeFacts& facts, const HostCosts& costs) :
        facts_(facts), costs_(costs), members_(facts.placement.members()), at_(members_) {}

    std::vector<Phase> write() {
        switch (facts_.method) {
        case Method::kRestart:
            restart();
            break;
        case Method::kReconnect:
            reconnect();
            break;
        case Method::kJoin:
            join();
            break;
        case Method::kLeave:
            leave();
            break;
        case Method::kFailure:
            failure();
            break;
        }
        return std::move(phases_);
    }

private:
    void add(std::string_view name, Time time, bool beside = false, bool simulated = false) {
        for (Time& member : at_)
            member += time;
        if (time.count() > 0)
            phases_.push_back({name, time, beside, simulated});
    }
    /// A phase that each member ends at its own time.
    void until(std::string_view name, std::vector<Time> ends, bool beside) {
        const Time begin = last_of(at_);
        at_ = std::move(ends);
        const Time end = last_of(at_);
        if (end > begin)
            phases_.push_back({name, end - begin, beside, true});
    }
    /// A barrier of all members.
    void meet() { at_.assign(at_.size(), last_of(at_)); }
    /// A dead rank is noticed by the time-out; a request is noticed beside training.
    void notice_change() {
        if (facts_.died) {
            add("time-out", costs_.timeout);
            add("abort", costs_.abort);
        } else {
            add("detection", costs_.detection, true);
        }
    }
    void start_processes(bool pods, bool beside) {
        if (pods)
            add("pod", costs_.pod, beside);
        add("start", costs_.start, beside);
        add("import", costs_.import, beside);
        add("context", context_time(costs_, facts_.placement.gpus_of_machine()), beside);
    }
    void init(Communicator communicator, bool beside) {
        until("bootstrap", bootstrap_ends(costs_, communicator, at_), beside);
        add("communicator", init_time(costs_, communicator, members_), beside);
    }
    void connect(Communicator communicator, bool beside) {
        until("connections", connection_ends(costs_, communicator, facts_.placement, at_), beside);
    }
    void broadcast() {
        meet();
        add("broadcast", facts_.broadcast, false, true);
    }
    /// Members begin to use a communicator that is ready.
    void switch_over() {
        add("switch", costs_.switching);
        if (facts_.divided_anew.count() > 0) {
            meet();
            add("state", facts_.divided_anew, false, true);
        }
        if (!costs_.sync_weights)
            return;
        meet();
        add("weights", facts_.weights, false, true);
    }
    /// Members that are added wait for work at other times than those that stay.
    [[nodiscard]] std::uint32_t groups() const {
        return (facts_.added > 0 ? 1 : 0) + (facts_.added < members_ ? 1 : 0);
    }
    /// Kept processes stop, and begin once they have looked for work; whatever they did until then
    /// was done by another thread.
    void look_for_work(Time from, std::uint32_t groups, bool beside) {
        if (!costs_.keep_processes)
            return;
        std::vector<Time> ends = at_;
        for (Time& end : ends)
            end = std::max(end, from + look_time(costs_, groups));
        until("poll", std::move(ends), beside);
    }
    /// Joiners load kernels; the others wait for them in the bootstrap.
    [[nodiscard]] Communicator with_joiners() const {
        return facts_.added > 0 ? Communicator::kFirst : Communicator::kFresh;
    }

    void restart() {
        notice_change();
        if (!facts_.died)
            add("save", write_time(costs_, facts_.state, facts_.ranks_before), false, true);
        look_for_work(last_of(at_), groups(), false);
        if (!costs_.keep_processes) {
            add("kill", costs_.kill);
            start_processes(costs_.restart_pods || facts_.added > 0, false);
        }
        add("rendezvous", costs_.rendezvous);
        init(costs_.keep_processes ? Communicator::kFresh : Communicator::kFirst, false);
        until("load", read_ends(costs_, facts_.state, facts_.placement, at_), false);
        broadcast();
        add("build", costs_.build);
        add("data", costs_.data);
        connect(Communicator::kFresh, false);
    }

    void reconnect() {
        notice_change();
        const Time told = last_of(at_);
        const bool starts = facts_.added > 0 && !costs_.keep_processes;
        if (starts)
            start_processes(true, facts_.announced);
        add("rendezvous", costs_.rendezvous);
        init(starts ? with_joiners() : Communicator::kFresh, false);
        connect(Communicator::kFresh, false);
        look_for_work(told, groups(), false);
        broadcast();
        if (starts)
            add("build", costs_.build, facts_.announced);
        std::stable_partition(
            phases_.begin(), phases_.end(), [](const Phase& phase) { return phase.beside; });
    }

    void join() {
        add("detection", costs_.detection, true);
        look_for_work(last_of(at_), 1, true);
        if (!costs_.keep_processes)
            start_processes(true, true);
        add("build", costs_.build, true);
        add("data", costs_.data, true);
        add("rendezvous", costs_.rendezvous, true);
        init(costs_.keep_processes ? Communicator::kFresh : Communicator::kFirst, true);
        connect(Communicator::kFresh, costs_.warm_connections);
        switch_over();
    }

    void leave() {
        const Time child = init_time(costs_, Communicator::kShrink, members_);
        const Time hidden = std::min(child, facts_.notice);
        add("communicator", hidden, true);
        add("communicator", child - hidden);
        switch_over();
    }

    void failure() {
        add("time-out", costs_.timeout);
        add("abort", costs_.abort);
        init(Communicator::kAborted, false);
        connect(Communicator::kAborted, false);
        switch_over();
    }

    const ChangeFacts& facts_;
    const HostCosts& costs_;
    std::uint32_t members_;
    std::vector<Time> at_;  ///< progress of each member
    std::vector<Phase> phases_;
};

}  // namespace

std::vector<Phase> phases_of(const ChangeFacts& facts, const HostCosts& costs) {
    return Writer(facts, costs).write();
}

Time time_of(const std::vector<Phase>& phases, bool beside) {
    Time sum;
    for (const Phase& phase : phases)
        if (phase.beside == beside)
            sum += phase.time;
    return sum;
}

}  // namespace switchfold::elastic
