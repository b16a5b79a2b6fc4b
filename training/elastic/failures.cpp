// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/failures.h"

#include "core/csv_reader.h"
#include "core/error.h"
#include "core/random_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace switchfold::elastic {

namespace {

constexpr double kDay = 86'400;
constexpr double kPicoseconds = 1e12;  // per second

Time seconds(double value) {
    return Time(static_cast<std::uint64_t>(value * kPicoseconds));
}

/// Applies changes and failures to the members in order of time.
class Mixer {
public:
    Mixer(const Members& first, const FailurePolicy& policy, const MemberGpus& gpus, Time length) :
        policy_(policy), gpus_(gpus), length_(length), members_(first.begin(), first.end()) {
        for (std::uint32_t one = 0; one < gpus.room() && spares_.size() < policy.spares; ++one)
            if (!members_.contains(one))
                spares_.insert(one);
    }

    void planned(const Change& change) {
        until(change.at.time);
        // A change's effect depends on the members at that time, so follow_changes() is applied
        // here.
        std::vector<Change> one{change};
        ChangeProblems ignored;  // follow_changes() reports them for the whole run
        const Members now(members_.begin(), members_.end());
        const Step step = follow_changes(now, one, gpus_, ignored).front();
        members_ = {step.members.begin(), step.members.end()};
        for (const std::uint32_t member : step.added)
            spares_.erase(member);
        Change named = change;
        if (ignored.empty()) {
            named.add = {0, gpus_.all(step.added)};
            named.remove = {0, gpus_.all(step.removed)};
        }
        made_.push_back(std::move(named));
    }

    void fails(const Failure& failure) {
        until(failure.at);
        const std::uint32_t failed = gpus_.member_of(failure.gpu);
        const bool spare = spares_.erase(failed) > 0;
        const bool trained = members_.contains(failed);
        if (!trained && !spare)
            return;
        if (trained && members_.size() == 1 && spares_.empty())
            return;
        if (failure.at + policy_.repair < length_)
            repaired_.emplace(failure.at + policy_.repair, failed);
        if (!trained)
            return;
        members_.erase(failed);
        Change& gone = change_at(failure.at, policy_.method);
        gone.remove.ranks = {failure.gpu};
        gone.died = true;
        if (spares_.empty()) {
            ++missing_;
        } else if (policy_.method == Method::kRestart) {
            gone.add.ranks = gpus_.of(take_spare());
        } else {
            Change& back = change_at(failure.at, policy_.rejoin);
            back.add.ranks = gpus_.of(take_spare());
        }
    }

    std::vector<Change> finish() {
        until(length_);
        return std::move(made_);
    }

private:
    Change& change_at(Time time, Method method) {
        Change& change = made_.emplace_back();
        change.at.time = time;
        change.method = method;
        return change;
    }
    std::uint32_t take_spare() {
        const std::uint32_t member = *spares_.begin();
        spares_.erase(member);
        members_.insert(member);
        return member;
    }
    /// Members repaired before `time` rejoin or become spares.
    void until(Time time) {
        while (!repaired_.empty() && repaired_.begin()->first <= time) {
            const auto [at, member] = *repaired_.begin();
            repaired_.erase(repaired_.begin());
            if (members_.contains(member))
                continue;
            spares_.insert(member);
            if (missing_ == 0)
                continue;
            --missing_;
            Change& back = change_at(at, policy_.rejoin);
            back.add.ranks = gpus_.of(take_spare());
        }
    }

    const FailurePolicy& policy_;
    const MemberGpus& gpus_;
    Time length_;
    std::set<std::uint32_t> members_;
    std::set<std::uint32_t> spares_;
    std::multimap<Time, std::uint32_t> repaired_;
    std::uint32_t missing_ = 0;  ///< members that nobody has replaced
    std::vector<Change> made_;
};

bool read_number(std::string_view text, auto& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::vector<Failure>
draw_failures(std::uint32_t gpus, double per_gpu_day, Time length, std::uint64_t seed) {
    std::vector<Failure> failures;
    if (per_gpu_day <= 0)
        return failures;
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
        RandomStream stream(seed, fmt::format("failures of GPU {}", gpu));
        double at = 0;
        while (true) {
            at += -std::log(1 - stream.share()) * kDay / per_gpu_day;
            if (at >= to_seconds(length))
                break;
            failures.push_back({seconds(at), gpu});
        }
    }
    std::sort(failures.begin(), failures.end(), [](const Failure& a, const Failure& b) {
        return a.at != b.at ? a.at < b.at : a.gpu < b.gpu;
    });
    return failures;
}

std::vector<Failure> read_failures(const std::filesystem::path& path) {
    std::ifstream file(path);
    if (!file)
        throw IoError(path, errno, "read failures");
    constexpr const char* kHeader = "seconds,gpu";
    constexpr double kLongest = 1.8e7;  // longest number of seconds that a Time holds
    std::vector<Failure> failures;
    std::vector<Problem> problems;
    CsvReader reader(
        [&](std::string& line) { return static_cast<bool>(std::getline(file, line)); });
    std::vector<std::string> cells;
    const bool any = reader.next(cells);
    const auto fail = [&](std::string what) {
        problems.push_back({path.string(), fmt::format("line {}", reader.line()), std::move(what)});
    };
    const auto shown = [&] { return fmt::format("{}", fmt::join(cells, ",")); };
    if (any && shown() != kHeader)
        fail(fmt::format("is \"{}\"; expected the columns {}", shown(), kHeader));
    while (reader.next(cells)) {
        double at = 0;
        Failure failure;
        if (cells.size() != 2 || !read_number(cells[0], at) ||
            !read_number(cells[1], failure.gpu) || !(at >= 0 && at < kLongest)) {
            fail(fmt::format("is \"{}\"; expected seconds of the run and a GPU", shown()));
            continue;
        }
        failure.at = seconds(at);
        if (!failures.empty() && failure.at < failures.back().at)
            fail("is before the line above it; expected them in order of time");
        failures.push_back(failure);
    }
    if (!problems.empty())
        throw ConfigError(std::move(problems));
    return failures;
}

std::vector<Change> with_failures(
    const Members& first, const std::vector<Change>& changes, const std::vector<Failure>& failures,
    const FailurePolicy& policy, const MemberGpus& gpus, Time length) {
    Mixer mixer(first, policy, gpus, length);
    auto failure = failures.begin();
    for (const Change& change : changes) {
        for (; failure != failures.end() && failure->at < change.at.time; ++failure)
            mixer.fails(*failure);
        mixer.planned(change);
    }
    for (; failure != failures.end() && failure->at < length; ++failure)
        mixer.fails(*failure);
    return mixer.finish();
}

}  // namespace switchfold::elastic
