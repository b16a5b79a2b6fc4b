// SPDX-License-Identifier: Apache-2.0
#include "sim/config/astra_sim.h"

#include "core/error.h"
#include "core/json.h"
#include "core/named_path.h"
#include "sim/config/astra_exchange.h"
#include "sim/config/astra_network.h"
#include "sim/config/astra_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostGraphs = 16'384;

/// A comment's line: keys of other tools' files may hold line ends.
std::string one_line(std::string text) {
    std::ranges::replace_if(
        text, [](unsigned char c) { return c < ' '; }, ' ');
    return text;
}

/// The name of a program as the experiment writes it.
OrderedJson program_policy(const AstraSimInputs& inputs, const fs::path& program) {
    return {{"algorithm", {{"program", path_to_write(inputs.folder, program).string()}}}};
}

bool is_ring_word(const std::string& word) {
    return word == "ring" || word == "oneRing";
}

/// How one kind of collective runs; nothing: no counterpart.
std::optional<OrderedJson>
astra_policy(const std::string& word, bool all_reduce, const AstraSimInputs& inputs) {
    if (is_ring_word(word))
        return OrderedJson{{"algorithm", "ring"}};
    if (is_direct_word(word) && all_reduce)
        return program_policy(inputs, inputs.configs / "programs/all_pairs_all_reduce.json");
    return {};
}

/// A list of one word, or of one a dimension.
std::vector<std::string> implementations(const Json& value) {
    std::vector<std::string> words;
    for (const Json& word : value.is_array() ? value : Json::array({value}))
        words.push_back(word.is_string() ? word.get<std::string>() : word.dump());
    return words;
}

/// The parts of an experiment that ASTRA-sim's system says.
class SystemFile {
public:
    SystemFile(const AstraSimInputs& inputs, const AstraNetwork& network) :
        inputs_(inputs), network_(network) {
        const Json system = load_json(inputs.system);
        if (!system.is_object())
            throw ConfigError(
                inputs.system.string(), "/",
                "is not an object; expected ASTRA-sim's system, such as "
                "{\"all-reduce-implementation\": [\"ring\"]}");
        for (const auto& [key, value] : system.items())
            take(key, value);
    }
    OrderedJson gpu{{"name", "ASTRA-sim's NPU"}};
    OrderedJson scenario{{"name", "as given"}};
    std::map<fs::path, std::string> programs;  ///< files beside the experiment
    std::vector<std::string> lost;

private:
    void take(const std::string& key, const Json& value) {
        constexpr std::string_view kCustom = "-custom";
        const bool custom = key.ends_with(kCustom);
        const std::string kind_key =
            custom ? key.substr(0, key.size() - kCustom.size()) : std::string(key);
        constexpr std::array<std::pair<std::string_view, CollectiveKind>, 4> kKinds{
            {{"all-reduce-implementation", CollectiveKind::kAllReduce},
             {"all-gather-implementation", CollectiveKind::kAllGather},
             {"reduce-scatter-implementation", CollectiveKind::kReduceScatter},
             {"all-to-all-implementation", CollectiveKind::kAllToAll}}};
        const auto* const kind =
            std::ranges::find(kKinds, kind_key, [](const auto& pair) { return pair.first; });
        if (kind != kKinds.end()) {
            const std::vector<std::string> words = implementations(value);
            if (custom)
                take_custom(key, kind->second, words);
            else if (kind->second == CollectiveKind::kAllToAll)
                take_all_to_all(key, words);
            else
                take_implementation(key, kind->second, words);
        } else if (key == "peak-perf" && value.is_number() && value > 0) {
            gpu["matrix_rate"] = rate(key, value, "TFLOP/s", 0.001, 1e6);
        } else if (key == "local-mem-bw" && value.is_number() && value > 0) {
            gpu["memory"]["hbm"]["peak"] = rate(key, value, "GB/s", 1, 1e5);
        } else if (key == "roofline-enabled" && value != 0) {
            return;  // compute nodes without a duration take that of these rates in any run
        } else {
            lost.push_back(fmt::format("{} {}", key, value.dump()));
        }
    }

    [[nodiscard]] std::string rate(
        const std::string& key, const Json& value, std::string_view unit, double least,
        double most) const {
        const double given = value.get<double>();
        if (!(given >= least) || !(given <= most))
            throw ConfigError(
                inputs_.system.string(), "/" + key,
                fmt::format("is {}; expected {:g} to {:g} {}", value.dump(), least, most, unit));
        return fmt::format("{} {}", std::round(given * 1e3) / 1e3, unit);
    }

    [[nodiscard]] OrderedJson& policy(CollectiveKind kind) {
        return scenario["collectives"][std::string(to_string(kind))];
    }

    void write_program(CollectiveKind kind, const OrderedJson& text) {
        const fs::path program =
            fmt::format("{}.{}.json", inputs_.programs.string(), to_string(kind));
        programs[program] = text.dump(2) + "\n";
        policy(kind) = program_policy(inputs_, program);
    }

    void take_all_to_all(const std::string& key, const std::vector<std::string>& words) {
        if (words.size() == 1 && is_direct_word(words.front()))
            return;  // ours is
        std::string why;
        if (words.size() == network_.dimensions.size()) {
            why = inputs_.programs.empty() ? "with -o it runs along the dimensions"
                                           : why_no_exchange(network_, words);
            if (why.empty()) {
                write_program(CollectiveKind::kAllToAll, exchange_program(network_, words));
                if (!std::ranges::all_of(words, [](const std::string& word) {
                        return is_ring_word(word) || is_direct_word(word);
                    }))
                    lost.push_back(fmt::format(
                        "{} {}: others than direct ones as rings", key, fmt::join(words, ", ")));
                return;
            }
        }
        lost.push_back(fmt::format(
            "{} {}: runs as auto{}{}", key, fmt::join(words, ", "), why.empty() ? "" : "; ", why));
    }

    void take_implementation(
        const std::string& key, CollectiveKind kind, const std::vector<std::string>& words) {
        std::string why;
        if (network_.dimensions.size() > 1 && words.size() > 1) {
            const bool can = runs_along_dimensions(kind) && !inputs_.programs.empty();
            if (can && words.size() == network_.dimensions.size()) {
                write_program(kind, dimension_program(network_, kind));
                if (!std::ranges::all_of(words, is_ring_word))
                    lost.push_back(fmt::format(
                        "{} {}: rings along the dimensions", key, fmt::join(words, ", ")));
                return;
            }
            if (runs_along_dimensions(kind) && inputs_.programs.empty())
                why = "; with -o it runs along the dimensions";
        } else if (
            const auto single =
                words.size() == 1
                    ? astra_policy(words.front(), kind == CollectiveKind::kAllReduce, inputs_)
                    : std::nullopt) {
            policy(kind) = *single;
            return;
        }
        lost.push_back(fmt::format("{} {}: runs as auto{}", key, fmt::join(words, ", "), why));
    }

    /// Graphs of a custom collective; their path is ASTRA-sim's working directory's.
    void take_custom(
        const std::string& key, CollectiveKind kind, const std::vector<std::string>& words) {
        if (words.size() != 1)
            throw ConfigError(
                inputs_.system.string(), "/" + escape_token(key),
                fmt::format(
                    "has {} values; expected one: a custom collective runs over all dimensions",
                    words.size()));
        std::error_code ignored;
        for (const fs::path& folder : {fs::path("."), fs::absolute(inputs_.system).parent_path()})
            if (fs::is_regular_file((folder / words.front()).string() + ".0.et", ignored)) {
                policy(kind) = program_policy(inputs_, folder / words.front());
                return;
            }
        throw ConfigError(
            inputs_.system.string(), "/" + escape_token(key),
            fmt::format(
                "names {}.0.et, which exists neither below this folder nor beside the system; "
                "expected what stands before .0.et in the graphs' names",
                words.front()));
    }

    const AstraSimInputs& inputs_;
    const AstraNetwork& network_;
};

}  // namespace

AstraSimExperiment experiment_of_astra_sim(const AstraSimInputs& inputs) {
    std::vector<std::string> graphs;
    for (std::size_t rank = 0; rank < kMostGraphs; ++rank) {
        const fs::path file = fmt::format("{}.{}.et", inputs.workload.string(), rank);
        std::error_code ignored;
        if (!fs::is_regular_file(file, ignored))
            break;
        graphs.push_back(path_to_write(inputs.folder, file).string());
    }
    if (graphs.empty())
        throw ConfigError(
            inputs.workload.string() + ".0.et", "/",
            fmt::format(
                "does not exist; expected a Chakra graph for each NPU: {0}.0.et, {0}.1.et, ...",
                inputs.workload.filename().string()));
    const AstraNetwork network =
        read_astra_network(inputs.network, static_cast<std::uint32_t>(graphs.size()));
    SystemFile system(inputs, network);
    for (const std::string& key : network.unknown)
        system.lost.push_back(fmt::format("{} of the network", key));
    OrderedJson gpu{
        {"$base",
         path_to_write(inputs.folder, inputs.configs / "systems/gpus/h100.json").string()}};
    gpu.update(system.gpu);
    OrderedJson files = graphs;
    if (!inputs.groups.empty())
        files.push_back(path_to_write(inputs.folder, inputs.groups).string());
    const OrderedJson experiment{
        {"$schema",
         path_to_write(inputs.folder, inputs.configs / "schema/experiment.schema.json").string()},
        {"name", inputs.workload.filename().string()},
        {"system",
         {{"$base",
           path_to_write(inputs.folder, inputs.configs / "systems/hgx_h100.json").string()},
          {"name", "astra_sim"},
          {"measured_as", OrderedJson::array()},
          {"gpu", gpu},
          {"topology", topology_of(network)}}},
        {"workload", {{"type", "trace"}, {"files", files}}},
        {"scenarios", OrderedJson::array({system.scenario})}};
    std::string text =
        "// From ASTRA-sim's inputs. Kernels of communication, their protocols and thread blocks, "
        "and what a\n// GPU has beside its peak rates are those of an H100: ASTRA-sim has none.\n";
    for (const std::string& what : system.lost)
        text += fmt::format("// No counterpart: {}\n", one_line(what));
    return {text + experiment.dump(2) + "\n", std::move(system.programs)};
}

}  // namespace switchfold
