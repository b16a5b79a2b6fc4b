// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/load_recorder.h"

#include "models/collectives/engine.h"
#include "sim/machine/machine.h"
#include "sim/machine/reduction_units.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

namespace switchfold {

namespace {

constexpr std::size_t kMostBins = 128;
constexpr std::size_t kFewestBins = 16;
constexpr std::size_t kMostCells = 1U << 18U;  // of all links
constexpr Time kFirstBin = nanoseconds(250);

/// Fewer where there are many links.
std::size_t bins_for(std::size_t links) {
    const std::size_t fit = kMostCells / std::max<std::size_t>(1, links);
    return std::clamp(fit, kFewestBins, kMostBins) / 2 * 2;
}

}  // namespace

LoadRecorder::LoadRecorder(
    Machine& machine, const MachineCounts& counts, const Scheduler& scheduler, std::size_t copies,
    const std::optional<RankSymmetry>& fold) :
    machine_(machine),
    counts_(counts),
    scheduler_(scheduler),
    copies_(copies),
    links_(machine.fabric().links().size()),
    bytes_(links_ + 1, bins_for(links_), kFirstBin),
    seen_(links_ + 1),
    left_out_(links_ + 1) {
    for (std::size_t hop = 0; hop < links_; ++hop)
        if (!fold || fold->image_of_hop[hop] == hop)
            simulated_.push_back(hop);
    for_each_unit(machine_.fabric(), [&](const Link& /*link*/, const ReductionUnit& unit) {
        units_.push_back(&unit);
    });
}

void LoadRecorder::on_collective_begin(const CollectiveSeen& /*collective*/, Time now) {
    ready_ = now;
}

void LoadRecorder::on_collective_end(const CollectiveSeen& collective, Time /*now*/) {
    const Time ready = collective.record == nullptr ? ready_ : collective.record->ready;
    ended_since_ = std::min(ended_since_.value_or(ready), ready);
}

void LoadRecorder::on_slice(Time now) {
    // Four times a bin: what a slice carries is spread evenly over it.
    if (now.count() >= last_.count() + bytes_.bin().count() / 4) {
        sample(now);
        watch(now);
    }
}

Time LoadRecorder::begin_of_left_out(Time skipped) const {
    // Of repetitions it was the time that was skipped; else a collective passed as an earlier one.
    if (skipped > skipped_)
        return last_;
    return std::min(last_, ended_since_.value_or(ready_));
}

void LoadRecorder::sample(Time now) {
    bytes_.cover(now);  // also where nothing moved
    const bool any = !counts_.left_out().empty();
    std::span<const double> left_out;
    if (any)
        left_out = counts_.wire_bytes_left_out();
    const Time skipped = scheduler_.skipped();
    const Time begin = begin_of_left_out(skipped);
    const auto links = machine_.fabric().links();
    const auto note = [&](std::size_t row, std::uint64_t simulated, double beyond) {
        if (simulated != seen_[row])
            bytes_.add(row, last_, now, static_cast<double>(simulated - seen_[row]));
        if (beyond > left_out_[row])
            bytes_.add(row, begin, now, beyond - left_out_[row]);
        seen_[row] = simulated;
        left_out_[row] = std::max(beyond, left_out_[row]);
    };
    for (const std::size_t i : simulated_)
        note(i, links[i]->wire_bytes(), any ? left_out[i] : 0);
    note(
        links_, machine_.gpu(0).memory().statistics().packet_bytes,
        any ? counts_.memory_bytes_left_out(0) : 0);
    last_ = now;
    skipped_ = skipped;
    ended_since_.reset();
}

void LoadRecorder::watch(Time now) {
    put("SMs in use", now, machine_.gpu(0).busy_sms());
    std::uint64_t open = 0;
    for (const ReductionUnit* unit : units_)
        open += unit->entries_used();
    put("reduction entries", now, static_cast<double>(open * copies_));
}

void LoadRecorder::put(const char* track, Time now, double value) {
    auto [at, fresh] = values_.try_emplace(track, -1.0);
    static_cast<void>(fresh);
    if (at->second == value)
        return;
    at->second = value;
    samples_[track].push_back({track, to_microseconds(now), value});
}

std::size_t LoadRecorder::bins_until(Time end) const {
    return (end.count() + bytes_.bin().count() - 1) / bytes_.bin().count();
}

LinkLoads LoadRecorder::loads(Time end, const std::optional<RankSymmetry>& fold) {
    if (end > last_)
        sample(end);
    LinkLoads loads;
    loads.bin_ps = bytes_.bin().count();
    loads.thousandths.resize(links_);
    const std::size_t bins = bins_until(end);
    const auto links = machine_.fabric().links();
    for (std::size_t hop = 0; hop < links_; ++hop) {
        const std::uint32_t image =
            fold ? fold->image_of_hop[hop] : static_cast<std::uint32_t>(hop);
        if (image == RankSymmetry::kIdle)
            continue;
        const double most =
            static_cast<double>(links[image]->bandwidth().count()) * to_seconds(bytes_.bin());
        const double times = fold && !fold->times_of_hop.empty() ? fold->times_of_hop[hop] : 1;
        std::vector<std::uint32_t> shares;
        // A link counts a packet when it is given to the wire, which may be busy until later.
        double due = 0;
        for (std::size_t bin = 0; bin < bins; ++bin) {
            due += times * bytes_.at(image, bin);
            const double carried = std::min(due, most);
            due -= carried;
            shares.push_back(static_cast<std::uint32_t>(std::lround(1000 * carried / most)));
        }
        if (std::ranges::any_of(shares, [](std::uint32_t share) { return share > 0; }))
            loads.thousandths[hop] = std::move(shares);
    }
    return loads;
}

std::vector<CounterSample> LoadRecorder::counters(Time end) const {
    std::vector<CounterSample> all;
    const auto add = [&](const char* track) {
        if (const auto found = samples_.find(track); found != samples_.end())
            all.insert(all.end(), found->second.begin(), found->second.end());
    };
    const auto add_rates = [&](const char* track, const std::vector<std::size_t>& rows) {
        double before = -1;
        for (std::size_t bin = 0; bin < bins_until(end); ++bin) {
            double sum = 0;
            for (const std::size_t row : rows)
                sum += bytes_.at(row, bin);
            const double rate = sum / to_seconds(bytes_.bin()) * 1e-9;
            if (rate != before)
                all.push_back({track, to_microseconds(Time(bin * bytes_.bin().count())), rate});
            before = rate;
        }
    };
    std::vector<std::size_t> out;
    const auto links = machine_.fabric().links();
    for (std::size_t i = 0; i < links_; ++i)
        if (std::string_view(links[i]->name()).find("gpu0_to_") != std::string_view::npos)
            out.push_back(i);
    add("SMs in use");
    add_rates("communication memory GB/s", {links_});
    add_rates("links out GB/s", out);
    add("reduction entries");
    return all;
}

}  // namespace switchfold
