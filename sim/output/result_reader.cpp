// SPDX-License-Identifier: Apache-2.0
#include "sim/output/result_reader.h"

#include "core/error.h"
#include "core/json.h"
#include "sim/output/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <system_error>

namespace switchfold {

namespace {

/// A value of the file with its pointer, for error messages.
class Node {
public:
    Node(const Json& json, const std::string& file, std::string pointer) :
        json_(json), file_(file), pointer_(std::move(pointer)) {}

    [[nodiscard]] Node operator[](const char* key) const {
        if (!json_.is_object() || !json_.contains(key))
            fail(fmt::format("has no \"{}\"; expected a result of this version", key));
        return {json_.at(key), file_, pointer_ + "/" + key};
    }
    [[nodiscard]] Node operator[](std::size_t index) const {
        return {json_.at(index), file_, fmt::format("{}/{}", pointer_, index)};
    }
    template <class Visit>
    void for_each(Visit visit) const {
        if (!json_.is_array())
            fail("is no list; expected a result of this version");
        for (std::size_t i = 0; i < json_.size(); ++i)
            visit(Node(json_[i], file_, fmt::format("{}/{}", pointer_, i)));
    }
    template <class Visit>
    void for_each_member(Visit visit) const {
        expect(json_.is_object(), "an object");
        for (const auto& [key, value] : json_.items())
            visit(key, Node(value, file_, pointer_ + "/" + key));
    }
    [[nodiscard]] bool is_null() const { return json_.is_null(); }
    [[noreturn]] void fail(std::string message) const {
        throw ConfigError(file_, pointer_, std::move(message));
    }

    void to(std::string& value) const {
        expect(json_.is_string(), "a string");
        value = json_.get<std::string>();
    }
    void to(bool& value) const {
        expect(json_.is_boolean(), "true or false");
        value = json_.get<bool>();
    }
    /// Null stands for a non-finite number.
    void to(double& value) const {
        value = std::numeric_limits<double>::quiet_NaN();
        if (json_.is_null())
            return;
        expect(json_.is_number(), "a number");
        value = json_.get<double>();
    }
    void to(std::uint64_t& value) const {
        expect(json_.is_number_unsigned(), "a whole number");
        value = json_.get<std::uint64_t>();
    }
    void to(std::uint32_t& value) const {
        expect(
            json_.is_number_unsigned() && json_.get<std::uint64_t>() <= UINT32_MAX,
            "a whole number of 32 bits");
        value = json_.get<std::uint32_t>();
    }
    void to(std::vector<std::string>& values) const {
        for_each([&](const Node& node) { node.to(values.emplace_back()); });
    }
    void to(std::map<std::string, std::uint64_t>& values) const {
        expect(json_.is_object(), "an object of counts");
        for (const auto& [key, value] : json_.items())
            Node(value, file_, pointer_ + "/" + key).to(values[key]);
    }

    /// JSON texts by key.
    void to(std::map<std::string, std::string>& values) const {
        expect(json_.is_object(), "an object");
        for (const auto& [key, value] : json_.items())
            values[key] = value.dump();
    }
    [[nodiscard]] bool has(const char* key) const { return json_.contains(key); }

private:
    void expect(bool right, std::string_view what) const {
        if (!right)
            fail(fmt::format("is {}; expected {}", json_.type_name(), what));
    }

    const Json& json_;
    const std::string& file_;
    std::string pointer_;
};

void read(const Node& node, WorkloadResult& w) {
    node["type"].to(w.type);
    node["source"].to(w.source);
    node["synthetic"].to(w.synthetic);
    node["ranks"].to(w.ranks);
    node["traced_ranks"].to(w.traced_ranks);
    node["steps"].to(w.steps);
    if (const Node measured = node["measured_iteration_us"]; !measured.is_null())
        measured.to(w.measured_iteration_us.emplace());
    node["events_used"].to(w.used);
    node["events_dropped"].to(w.dropped);
    node["kernel_durations"].to(w.duration_sources);
    node["kernel_bytes"].to(w.byte_sources);
    node["collective_sizes"].to(w.size_sources);
    node["notes"].to(w.notes);
}

/// Results of programs that knew no intervals have none.
void read_intervals(const Node& node, FigureIntervals& intervals) {
    if (!node.has("intervals"))
        return;
    node["intervals"].for_each_member([&](const std::string& key, const Node& one) {
        FigureInterval& interval = intervals[key];
        if (const Node low = one["low"]; !low.is_null())
            low.to(interval.low.emplace());
        if (const Node high = one["high"]; !high.is_null())
            high.to(interval.high.emplace());
        one["measured"].to(interval.measured);
        one["like"].to(interval.like);
    });
}

void read(const Node& node, CollectiveResult& c) {
    node["name"].to(c.name);
    node["algorithm"].to(c.algorithm);
    node["protocol"].to(c.protocol);
    if (const Node fallback = node["fallback"]; !fallback.is_null())
        fallback.to(c.fallback);
    node["channels"].to(c.channels);
    node["ranks"].to(c.ranks);
    node["size_bytes"].to(c.size_bytes);
    node["start_us"].to(c.start_us);
    node["ready_us"].to(c.ready_us);
    node["time_us"].to(c.time_us);
    node["algorithm_bandwidth_GBps"].to(c.algorithm_bandwidth_GBps);
    node["bus_bandwidth_GBps"].to(c.bus_bandwidth_GBps);
    read_intervals(node, c.intervals);
}

template <class T>
void read_all(const Node& list, std::vector<T>& values) {
    list.for_each([&](const Node& node) { read(node, values.emplace_back()); });
}

void read(const Node& node, SlowdownByCause& causes) {
    for (const Cause& cause : kCauses)
        node[std::string(cause.key).c_str()].to(causes.*cause.member);
}

void read(const Node& node, KernelClassResult& c) {
    node["class"].to(c.kernel_class);
    node["kernels"].to(c.kernels);
    node["isolated_us"].to(c.isolated_us);
    node["slowdown"].to(c.slowdown);
    if (const Node causes = node["slowdown_by_cause"]; !causes.is_null())
        read(causes, c.causes.emplace());
}

void read(const Node& node, WorstKernelResult& k) {
    node["name"].to(k.name);
    node["class"].to(k.kernel_class);
    node["kernels"].to(k.kernels);
    node["isolated_us"].to(k.isolated_us);
    node["lost_us"].to(k.lost_us);
}

void read(const Node& node, PeakMemoryResult& peak) {
    node["rank"].to(peak.rank);
    node["time_us"].to(peak.time_us);
    node["pass"].to(peak.pass);
    const Node bytes = node["bytes"];
    for (const MemoryClassText& memory : kMemoryClasses)
        bytes[std::string(memory.name).c_str()].to(peak.bytes[memory.value]);
}

void read(const Node& node, TogetherResult& t) {
    node["iteration_us"].to(t.iteration_us);
    node["exposed_communication_us"].to(t.exposed_communication_us);
    if (const Node slowdown = node["backward_slowdown"]; !slowdown.is_null())
        slowdown.to(t.backward_slowdown.emplace());
}

void read(const Node& node, ScenarioResult& s) {
    node["name"].to(s.name);
    node["overlap"].to(s.overlap);
    if (node.has("set"))
        node["set"].to(s.set);
    if (node.has("workload"))
        read(node["workload"], s.workload.emplace());
    for (const Figure& figure : kFigures) {
        const Node value = node[std::string(figure.key).c_str()];
        if (figure.is_optional() && value.is_null())
            continue;
        double number = 0;
        value.to(number);
        figure.set(s, number);
    }
    read_intervals(node, s.intervals);
    if (const Node peak = node["peak_memory"]; !peak.is_null())
        read(peak, s.peak_memory.emplace());
    if (const Node causes = node["slowdown_by_cause"]; !causes.is_null())
        read(causes, s.causes.emplace());
    const Node by_phase = node["causes_by_phase"];
    for (const SlowedPart& part : kSlowedParts)
        if (const Node causes = by_phase[std::string(part.key).c_str()]; !causes.is_null())
            read(causes, (s.*part.causes).emplace());
    if (const Node together = node["with_ranks_together"]; !together.is_null())
        read(together, s.together.emplace());
    read_all(node["kernel_classes"], s.kernel_classes);
    read_all(node["worst_kernels"], s.worst_kernels);
    node["notes"].to(s.notes);
    read_all(node["collectives"], s.collectives);
}

void read(const Node& node, StatisticTable::Column& column) {
    std::string unit;
    node["name"].to(column.name);
    node["unit"].to(unit);
    constexpr std::array kUnits{
        Unit::kCount, Unit::kBytes, Unit::kMicroseconds, Unit::kShare, Unit::kFactor};
    const auto* const known =
        std::find_if(kUnits.begin(), kUnits.end(), [&](Unit u) { return to_string(u) == unit; });
    if (known == kUnits.end())
        node["unit"].fail(fmt::format("is \"{}\"; expected a unit of this version", unit));
    column.unit = *known;
    node["meaning"].to(column.meaning);
}

/// Empty tables with the columns that the legend lists.
std::vector<StatisticTable> read_legend(const Node& node) {
    std::vector<StatisticTable> tables;
    node.for_each([&](const Node& kind) {
        StatisticTable& table = tables.emplace_back();
        kind["kind"].to(table.kind);
        kind["about"].to(table.about);
        read_all(kind["values"], table.columns);
    });
    return tables;
}

void read_rows(const Node& node, StatisticTable& table) {
    node[table.kind.c_str()].for_each([&](const Node& component) {
        StatisticTable::Row& row = table.rows.emplace_back();
        component["name"].to(row.name);
        for (const StatisticTable::Column& column : table.columns)
            component[column.name.c_str()].to(row.values.emplace_back());
    });
}

}  // namespace

ExperimentResult read_result(const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / "result.json";
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
        throw ConfigError(
            folder.string(), "", "holds no result.json; expected the folder of a finished run");
    const Json json = load_json(path);
    const std::string file = path.string();
    const Node root(json, file, "");
    std::string schema;
    root["schema"].to(schema);
    if (schema != kResultSchema)
        throw ConfigError(
            file, "/schema", fmt::format("is \"{}\"; expected \"{}\"", schema, kResultSchema));
    ExperimentResult r;
    root["experiment"].to(r.experiment);
    root["version"].to(r.version);
    root["config_digest"].to(r.config_digest);
    read(root["workload"], r.workload);
    read_all(root["scenarios"], r.scenarios);
    const std::vector<StatisticTable> legend = read_legend(root["statistics"]);
    for (std::size_t i = 0; i < r.scenarios.size(); ++i) {
        r.scenarios[i].statistics = legend;
        for (StatisticTable& table : r.scenarios[i].statistics)
            read_rows(root["scenarios"][i], table);
    }
    const Node host = root["host"];
    host["wall_s"].to(r.host.wall_s);
    host["peak_rss_bytes"].to(r.host.peak_rss_bytes);
    host["events"].to(r.host.events);
    return r;
}

}  // namespace switchfold
