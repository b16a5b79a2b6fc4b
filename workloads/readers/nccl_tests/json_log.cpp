// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/nccl_tests/json_log.h"

#include "core/error.h"
#include "core/text.h"
#include "workloads/readers/input/json_fields.h"
#include "workloads/readers/input/json_stream.h"
#include "workloads/readers/input/limits.h"
#include "workloads/readers/input/lines.h"
#include "workloads/readers/listed/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

namespace switchfold::nccl_tests {

namespace {

constexpr std::uint64_t kMostRanks = 1'000'000;
constexpr double kMostUs = 1e12;
constexpr double kMostBandwidth = 1e12;

std::string name_of_program(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

/// A root, as a number or as text padded with blanks.
std::int64_t root_of(const JsonFields& row) {
    const Json* const root = row.find("root");
    if (root == nullptr)
        return -1;
    if (root->is_number_integer() &&
        (root->is_number_unsigned() ? root->get<std::uint64_t>() < kMostRanks
                                    : root->get<std::int64_t>() == -1))
        return root->get<std::int64_t>();
    std::int64_t value = 0;
    if (root->is_string()) {
        const auto text = root->get<std::string>();
        const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
        const auto [end, code] =
            std::from_chars(text.data() + first, text.data() + text.size(), value);
        if (code == std::errc{} && end == text.data() + text.size())
            return value;
    }
    row.fail("root", fmt::format("is {}; expected a rank, or -1 for none", shown(*root)));
}

class JsonLogReader {
public:
    JsonLogReader(const std::filesystem::path& path, std::uint64_t most) :
        path_(path), file_(path.string()), most_(most) {}

    NcclTestsLog run() {
        constexpr std::size_t kEnough = 1U << 16U;
        const JsonBeginning beginning = json_beginning(beginning_of(path_, kEnough));
        if (beginning.has("busBw"))
            read_rows(beginning.list);
        else
            read_whole();
        if (log_.rows.empty())
            throw ConfigError(
                file_, "/results", "holds no row of results; expected those of a whole run");
        if (log_.ranks == 0)
            throw ConfigError(file_, "", "does not say how many ranks took part; expected it");
        return std::move(log_);
    }

private:
    void read_rows(bool list) {
        log_.program = "rccl-tests";
        if (list) {
            JsonStream stream(path_, most_);
            stream.on("/*", [this](const std::string& pointer, const Json& value) {
                read_row(JsonFields(value, file_, pointer));
            });
            stream.run();
        } else {
            LineReader lines(path_, most_);
            std::string text;
            while (lines.next(text)) {
                if (text.find_first_not_of(" \t\r") == std::string::npos)
                    continue;
                const std::string where = fmt::format("line {}", lines.number());
                const Json json = Json::parse(text, nullptr, false);
                if (json.is_discarded())
                    throw ConfigError(file_, where, "is not JSON; expected a row of results");
                read_row(JsonFields(json, file_, where + ": "));
            }
        }
        choose_rows();
    }

    /// {"name": "AllReduce", "size": 1024, "type": "float", "inPlace": 0, "time": 20.5, ...}
    void read_row(const JsonFields& row) {
        ++log_.lines;
        const std::uint64_t gpus =
            row.whole_if_any("gpus", kMostRanks)
                .value_or(row.whole_if_any("ranks", kMostRanks).value_or(0)) *
            row.whole_if_any("gpusPerRank", kMostRanks).value_or(1);
        if (gpus == 0 || gpus > kMostRanks)
            row.fail("gpus", "is missing, and so is ranks; expected how many GPUs took part");
        if (log_.ranks != 0 && log_.ranks != gpus)
            row.fail(
                "gpus", fmt::format(
                            "is {} where a row before says {}; expected rows of one run", gpus,
                            log_.ranks));
        log_.ranks = static_cast<std::uint32_t>(gpus);
        log_.hosts = std::max(
            log_.hosts,
            static_cast<std::uint32_t>(row.whole_if_any("nodes", kMostRanks).value_or(1)));
        NcclTestsRow result = row_of(row);
        result.kind = kind_of(row, "name", row.text("name"));
        result.out_of_place = time_of(row, "time", "algBw", "busBw");
        in_place_.push_back(row.whole_if_any("inPlace", 1).value_or(0) == 1);
        log_.rows.push_back(std::move(result));
    }

    void choose_rows() {
        const auto inside =
            static_cast<std::uint64_t>(std::count(in_place_.begin(), in_place_.end(), true));
        std::vector<NcclTestsRow> chosen;
        for (std::size_t i = 0; i < log_.rows.size(); ++i)
            if (!in_place_[i] || inside == in_place_.size())
                chosen.push_back(std::move(log_.rows[i]));
        log_.rows = std::move(chosen);
        log_.used["collectives"] = log_.rows.size();
        if (inside > 0 && inside < in_place_.size())
            log_.dropped["rows in place"] = inside;
    }

    void read_whole() {
        JsonStream stream(path_, most_);
        stream.on("/args/0", [this](const std::string&, const Json& value) {
            if (value.is_string())
                test_ = name_of_program(value.get<std::string>());
        });
        stream.on("/nccl_version", [this](const std::string&, const Json& value) {
            log_.library = value.dump();
        });
        stream.on("/config", [this](const std::string& pointer, const Json& value) {
            read_config(JsonFields(value, file_, pointer));
        });
        stream.on("/results/*", [this](const std::string& pointer, const Json& value) {
            read_result(JsonFields(value, file_, pointer));
        });
        stream.run();
        log_.used["collectives"] = log_.rows.size();
    }

    /// A process lists the first of its devices only.
    void read_config(const JsonFields& config) {
        const std::uint64_t of_process =
            config.whole("nthreads", kMostRanks) * config.whole("ngpus", kMostRanks);
        std::set<std::string> hosts;
        std::uint64_t processes = 0;
        for (const JsonFields& device : config.objects("devices")) {
            ++processes;
            hosts.insert(device.text_if_any("hostname"));
            if (log_.gpu.empty())
                log_.gpu = device.text_if_any("device_info");
        }
        if (of_process > kMostRanks || processes * of_process > kMostRanks ||
            processes * of_process == 0)
            config.fail(
                "devices", fmt::format(
                               "lists {} processes of {} GPUs; expected 1 to 1,000,000 ranks",
                               processes, of_process));
        log_.ranks = static_cast<std::uint32_t>(processes * of_process);
        log_.hosts = static_cast<std::uint32_t>(std::max<std::size_t>(1, hosts.size()));
        log_.gpus_of_thread =
            std::max(1U, static_cast<std::uint32_t>(config.whole("ngpus", kMostRanks)));
        log_.graph = config.whole_if_any("graph", UINT32_MAX).value_or(0) != 0;
    }

    void read_result(const JsonFields& result) {
        ++log_.lines;
        NcclTestsRow row = row_of(result);
        const auto out = result.object_if_any("out_of_place");
        const auto in = result.object_if_any("in_place");
        if (!out && !in)
            result.fail("out_of_place", "is missing, and so is in_place; expected a time");
        row.kind = kind_of(result, "experiment_name", test_);
        row.out_of_place = time_of(out ? *out : *in);
        if (in)
            row.in_place = time_of(*in);
        log_.kind = *row.kind;
        log_.rows.push_back(std::move(row));
    }

    [[nodiscard]] NcclTestsRow row_of(const JsonFields& row) const {
        NcclTestsRow result;
        result.line = log_.lines;
        result.bytes = row.whole("size", kMostTracedBytes);
        result.type = row.text("type");
        result.reduction = row.text_if_any("redop");
        result.root = root_of(row);
        return result;
    }

    static CollectiveKind kind_of(const JsonFields& row, const char* key, const std::string& name) {
        const auto kind = collective_named(name);
        if (!kind)
            row.fail(
                key,
                fmt::format(
                    "is of {}, which is not known; expected a collective of nccl-tests",
                    name.empty() ? "a program that the file does not name" : shown(Json(name))));
        return *kind;
    }

    static NcclTestsTime time_of(const JsonFields& place) {
        if (place.has("cpu_time")) {
            NcclTestsTime time = time_of(place, "cpu_time", "alg_bw", "bus_bw");
            time.us = 0;
            return time;
        }
        NcclTestsTime time = time_of(place, "time", "alg_bw", "bus_bw");
        if (const auto wrong = figure(place, "nwrong"))
            time.wrong = static_cast<std::uint64_t>(*wrong);
        return time;
    }

    /// nccl-tests writes what is no number as text.
    static std::optional<double> figure(const JsonFields& place, const char* key) {
        const Json* const value = place.find(key);
        return value == nullptr || !value->is_number() ? std::nullopt
                                                       : place.number_if_any(key, kMostBandwidth);
    }

    static NcclTestsTime
    time_of(const JsonFields& place, const char* us, const char* algorithm, const char* bus) {
        NcclTestsTime time;
        time.us = place.number_if_any(us, kMostUs).value_or(0);
        if (!(time.us > 0))
            place.fail(us, "is missing or zero; expected microseconds");
        time.algorithm_bandwidth = figure(place, algorithm).value_or(0);
        time.bus_bandwidth = figure(place, bus).value_or(0);
        return time;
    }

    std::filesystem::path path_;
    std::string file_;
    std::uint64_t most_;
    NcclTestsLog log_;
    std::string test_;
    std::vector<bool> in_place_;  ///< of rccl-tests' rows
};

}  // namespace

}  // namespace switchfold::nccl_tests

namespace switchfold {

bool is_nccl_tests_json(const JsonBeginning& beginning) {
    const bool of_rccl_tests = beginning.has("busBw") && beginning.has("size");
    return of_rccl_tests ||
           (beginning.has("start_time") && beginning.has("args") && beginning.has("env"));
}

NcclTestsLog read_nccl_json_log(const std::filesystem::path& file, std::uint64_t most) {
    return nccl_tests::JsonLogReader(file, most).run();
}

}  // namespace switchfold
