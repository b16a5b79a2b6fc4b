// SPDX-License-Identifier: Apache-2.0
#include "workloads/changes/phases.h"

#include <algorithm>

namespace switchfold::changes {

namespace {

class Writer {
public:
    Writer(const ChangeFacts& facts, const HostCosts& costs) : facts_(facts), costs_(costs) {}

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
        if (time.count() > 0)
            phases_.push_back({name, time, beside, simulated});
    }
    /// Of a rank that is gone nobody hears before the time-out; a request is noticed beside
    /// training.
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
        add("context", context_time(costs_, facts_.gpus_of_machine), beside);
    }
    void init(Communicator communicator, bool beside) {
        add("communicator", init_time(costs_, communicator, facts_.members), beside);
    }
    void connect(Communicator communicator, bool beside) {
        if (facts_.members > 1)
            add("connections", connection_time(costs_, communicator, facts_.machines), beside);
    }
    /// Joiners load kernels; the others wait for them in the bootstrap.
    [[nodiscard]] Communicator with_joiners() const {
        return facts_.added > 0 ? Communicator::kFirst : Communicator::kFresh;
    }

    void restart() {
        notice_change();
        if (!facts_.died)
            add("save", write_time(costs_, facts_.state), false, true);
        if (!costs_.keep_processes) {
            add("kill", costs_.kill);
            start_processes(costs_.restart_pods || facts_.added > 0, false);
        }
        add("rendezvous", costs_.rendezvous);
        init(costs_.keep_processes ? Communicator::kFresh : Communicator::kFirst, false);
        add("load", read_time(costs_, facts_.state, facts_.members, facts_.machines), false, true);
        add("broadcast", facts_.broadcast, false, true);
        add("build", costs_.build);
        add("data", costs_.data);
        connect(Communicator::kFresh, false);
    }

    void reconnect() {
        notice_change();
        const bool starts = facts_.added > 0 && !costs_.keep_processes;
        if (starts)
            start_processes(true, facts_.announced);
        add("rendezvous", costs_.rendezvous);
        init(starts ? with_joiners() : Communicator::kFresh, false);
        connect(Communicator::kFresh, false);
        add("broadcast", facts_.broadcast, false, true);
        if (starts)
            add("build", costs_.build, facts_.announced);
        std::stable_partition(
            phases_.begin(), phases_.end(), [](const Phase& phase) { return phase.beside; });
    }

    void join() {
        add("detection", costs_.detection, true);
        if (!costs_.keep_processes)
            start_processes(true, true);
        add("build", costs_.build, true);
        add("data", costs_.data, true);
        add("rendezvous", costs_.rendezvous, true);
        init(costs_.keep_processes ? Communicator::kFresh : Communicator::kFirst, true);
        connect(Communicator::kFresh, costs_.warm_connections);
        add("switch", costs_.switching);
    }

    void leave() {
        const Time child = init_time(costs_, Communicator::kShrink, facts_.members);
        const Time hidden = std::min(child, facts_.notice);
        add("communicator", hidden, true);
        add("communicator", child - hidden);
        add("switch", costs_.switching);
    }

    void failure() {
        add("time-out", costs_.timeout);
        add("abort", costs_.abort);
        init(Communicator::kAborted, false);
        connect(Communicator::kAborted, false);
        add("switch", costs_.switching);
    }

    const ChangeFacts& facts_;
    const HostCosts& costs_;
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

}  // namespace switchfold::changes
