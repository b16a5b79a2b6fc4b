// SPDX-License-Identifier: Apache-2.0
#include "app/run_explorer.h"

#include "core/csv.h"
#include "sim/output/slowdown_causes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

using Column = std::vector<std::int64_t>;

/// Microseconds, as a text, in nanoseconds.
std::int64_t nanoseconds_of(const std::string& us) {
    constexpr double kThousand = 1e3;
    return std::llround(std::strtod(us.c_str(), nullptr) * kThousand);
}

/// Numbers what it is given, each thing once.
template <class Key>
class Numbered {
public:
    std::int64_t of(const Key& key) {
        const auto [at, fresh] =
            numbers_.try_emplace(key, static_cast<std::int64_t>(numbers_.size()));
        if (fresh)
            keys_.push_back(&at->first);
        return at->second;
    }
    [[nodiscard]] const std::vector<const Key*>& keys() const { return keys_; }

private:
    std::map<Key, std::int64_t> numbers_;
    std::vector<const Key*> keys_;  // nodes of a map stay where they are
};

struct Lane {
    Column names;
    Column gaps;  ///< from the end of the bar before it, ns
    Column durations;
    Column alone;   ///< of kernels, ns
    Column beside;  ///< of kernels: percent of its time with a collective
    Column caused;  ///< kernels with causes, by their place in the lane
    Column causes;  ///< of each of these, thousandths by cause
    std::int64_t end = 0;

    void add(std::int64_t name, std::int64_t start, std::int64_t duration) {
        names.push_back(name);
        gaps.push_back(start - end);
        durations.push_back(duration);
        end = start + duration;
    }
};

Column beyond(const Column& column, const Column& base) {
    Column differences;
    for (std::size_t i = 0; i < column.size(); ++i)
        differences.push_back(column[i] - base[i]);
    return differences;
}

using RankKey = std::pair<std::string, std::uint32_t>;  // scenario and rank
using LaneKey = std::pair<std::string, std::string>;    // stream and what it holds
using KernelKey = std::tuple<std::string, std::string, std::string, std::string>;

std::uint32_t rank_of(const CsvRecord& row) {
    return static_cast<std::uint32_t>(std::strtoul(row["rank"].c_str(), nullptr, 10));
}

/// A table that not every run has.
CsvTable table_if_there(const std::filesystem::path& file) {
    return std::filesystem::exists(file) ? read_csv(file) : CsvTable();
}

class Timelines {
public:
    Timelines(const std::filesystem::path& folder, const CsvTable& kernels, std::size_t most_bars) :
        kernels_(kernels),
        communication_(table_if_there(folder / "communication.csv")),
        causes_(table_if_there(folder / "causes.csv")) {
        choose_what_fits(most_bars);
        for (const CsvRecord& row : causes_.records)
            cause_rows_.try_emplace(
                {row["scenario"], row["rank"], row["stream"], row["start_us"]}, &row);
        for (const CsvRecord& row : kernels_.records)
            add_kernel(row);
        for (const CsvRecord& row : communication_.records)
            if (Lane* lane = lane_of(row, "communication"))
                lane->add(
                    names_.of({row["name"], row["kind"], row["bytes"]}),
                    nanoseconds_of(row["start_us"]), nanoseconds_of(row["duration_us"]));
    }

    OrderedJson json() {
        OrderedJson scenarios = OrderedJson::array();
        std::map<std::string, std::size_t> places;
        for (const auto& [key, lanes] : ranks_) {
            const auto [at, fresh] = places.try_emplace(key.first, scenarios.size());
            if (fresh)
                scenarios.push_back({{"name", key.first}, {"ranks", OrderedJson::array()}});
            OrderedJson drawn = OrderedJson::array();
            const auto& first = ranks_.lower_bound({key.first, 0})->second;
            for (const auto& [of, lane] : lanes) {
                const auto like = first.find(of);
                drawn.push_back(json_of(of, lane, like == first.end() ? nullptr : &like->second));
            }
            scenarios[at->second]["ranks"].push_back(
                {{"rank", key.second}, {"lanes", std::move(drawn)}});
        }
        OrderedJson names = OrderedJson::array();
        for (const auto* name : names_.keys())
            names.push_back({std::get<0>(*name), std::get<1>(*name), std::get<2>(*name)});
        OrderedJson columns = OrderedJson::array();
        for (const Column* column : columns_.keys())
            columns.push_back(*column);
        return {
            {"every", every_},
            {"until_us", until_us_ > 0 ? OrderedJson(until_us_) : OrderedJson()},
            {"names", std::move(names)},
            {"columns", std::move(columns)},
            {"scenarios", std::move(scenarios)}};
    }

private:
    /// Some of the ranks if there are too many bars, then the beginning of them.
    void choose_what_fits(std::size_t most) {
        std::map<std::uint32_t, std::size_t> bars;
        for (const CsvTable* table : std::array<const CsvTable*, 2>{&kernels_, &communication_})
            for (const CsvRecord& row : table->records)
                ++bars[rank_of(row)];
        const auto count = [&] {
            std::size_t sum = 0;
            for (const auto& [rank, n] : bars)
                sum += rank % every_ == 0 ? n : 0;
            return sum;
        };
        while (count() > most && every_ < bars.size())
            ++every_;
        if (count() <= most)
            return;
        std::vector<double> starts;
        for (const CsvTable* table : std::array<const CsvTable*, 2>{&kernels_, &communication_})
            for (const CsvRecord& row : table->records)
                if (rank_of(row) % every_ == 0)
                    starts.push_back(std::strtod(row["start_us"].c_str(), nullptr));
        const auto last = starts.begin() + static_cast<std::ptrdiff_t>(most);
        std::nth_element(starts.begin(), last, starts.end());
        until_us_ = *last;
    }

    /// Null if the row is left out.
    Lane* lane_of(const CsvRecord& row, const std::string& holds) {
        const std::uint32_t rank = rank_of(row);
        if (rank % every_ != 0 ||
            (until_us_ > 0 && std::strtod(row["start_us"].c_str(), nullptr) >= until_us_))
            return nullptr;
        return &ranks_[{row["scenario"], rank}][{row["stream"], holds}];
    }

    void add_kernel(const CsvRecord& row) {
        Lane* lane = lane_of(row, "kernels");
        if (lane == nullptr)
            return;
        constexpr double kPercent = 100;
        constexpr double kThousand = 1e3;
        lane->add(
            names_.of({row["name"], row["class"], row["phase"]}), nanoseconds_of(row["start_us"]),
            nanoseconds_of(row["duration_us"]));
        lane->alone.push_back(nanoseconds_of(row["isolated_us"]));
        lane->beside.push_back(
            std::llround(kPercent * std::strtod(row["overlapped_share"].c_str(), nullptr)));
        const auto found =
            cause_rows_.find({row["scenario"], row["rank"], row["stream"], row["start_us"]});
        if (found == cause_rows_.end())
            return;
        lane->caused.push_back(static_cast<std::int64_t>(lane->names.size() - 1));
        for (const Cause& cause : kCauses)
            lane->causes.push_back(std::llround(
                kThousand * std::strtod((*found->second)[cause.key].c_str(), nullptr)));
    }

    OrderedJson json_of(const LaneKey& of, const Lane& lane, const Lane* first) {
        const bool like = first != nullptr && first != &lane && first->names == lane.names;
        const auto number = [&](Column Lane::*column, bool relative) {
            return columns_.of(relative ? beyond(lane.*column, first->*column) : lane.*column);
        };
        OrderedJson out{
            {"stream", of.first},
            {"holds", of.second},
            {"like_first", like},
            {"names", columns_.of(lane.names)},
            {"gaps", number(&Lane::gaps, like)},
            {"durations", number(&Lane::durations, like)}};
        if (of.second == "kernels") {
            const bool same = like && first->caused == lane.caused;
            out["alone"] = columns_.of(lane.alone);
            out["beside"] = number(&Lane::beside, like);
            out["caused"] = columns_.of(lane.caused);
            out["causes_like_first"] = same;
            out["causes"] = number(&Lane::causes, same);
        }
        return out;
    }

    const CsvTable& kernels_;
    CsvTable communication_;
    CsvTable causes_;
    std::map<KernelKey, const CsvRecord*> cause_rows_;
    std::map<RankKey, std::map<LaneKey, Lane>> ranks_;
    Numbered<std::tuple<std::string, std::string, std::string>> names_;
    Numbered<Column> columns_;
    std::size_t every_ = 1;
    double until_us_ = 0;  ///< 0: the whole run
};

/// Halves the number of bins; of an odd number the last one stands alone.
OrderedJson halved(const OrderedJson& bins) {
    OrderedJson out = OrderedJson::array();
    for (std::size_t i = 0; i < bins.size(); i += 2) {
        const auto first = bins[i].get<std::uint32_t>();
        const auto second = i + 1 < bins.size() ? bins[i + 1].get<std::uint32_t>() : 0U;
        out.push_back((first + second + 1) / 2);
    }
    return out;
}

}  // namespace

OrderedJson timelines_data(
    const std::filesystem::path& folder, const CsvTable& kernels, std::size_t most_bars) {
    return Timelines(folder, kernels, most_bars).json();
}

OrderedJson map_data(const std::filesystem::path& folder) {
    const std::filesystem::path file = folder / "links.json";
    if (!std::filesystem::exists(file))
        return {};
    OrderedJson map = OrderedJson::parse(load_json(file).dump());
    constexpr std::size_t kMostLoads = 250'000;
    const auto loads = [&] {
        std::size_t sum = 0;
        for (const OrderedJson& scenario : map.at("scenarios"))
            for (const auto& [link, bins] : scenario.at("load").items())
                sum += bins.size();
        return sum;
    };
    constexpr int kMostHalvings = 4;
    for (int i = 0; i < kMostHalvings && loads() > kMostLoads; ++i)
        for (OrderedJson& scenario : map.at("scenarios")) {
            for (auto& [link, bins] : scenario.at("load").items())
                bins = halved(bins);
            scenario["bin_us"] = 2 * scenario.at("bin_us").get<double>();
        }
    return map;
}

OrderedJson uses_of(const OrderedJson& components) {
    std::vector<std::pair<double, std::string>> uses;
    for (const OrderedJson& one : components)
        for (const char* key : {"utilization", "busy_share"})
            if (one.contains(key))
                uses.emplace_back(one.at(key).get<double>(), one.at("name").get<std::string>());
    std::stable_sort(
        uses.begin(), uses.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    constexpr std::size_t kMostParts = 300;
    const std::size_t shown = std::min(uses.size(), kMostParts);
    OrderedJson out = OrderedJson::array();
    for (std::size_t i = 0; i < shown; ++i) {
        // The first and the last among them.
        const auto& [use, name] = uses[shown == 1 ? 0 : i * (uses.size() - 1) / (shown - 1)];
        out.push_back({{"name", name}, {"utilization", use}});
    }
    return out;
}

}  // namespace switchfold
