// SPDX-License-Identifier: Apache-2.0
#include "validation/training/step_rows.h"

#include "core/csv.h"
#include "core/error.h"
#include "core/params_reader.h"
#include "sim/config/plan_params.h"
#include "sim/config/training_params.h"
#include "sim/workload/kernel_model.h"
#include "sim/workload/plan_workload.h"
#include "training/network/decoder.h"
#include "training/network/table.h"
#include "training/network/zoo/zoo.h"
#include "training/plan/step/plan_step.h"
#include "validation/experiments/row_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <system_error>
#include <utility>

namespace switchfold::validation {

namespace {

constexpr std::uint32_t kVocabulary = 51'200;  // Megatron-LM's, padded; used if a row states none
/// vTrain's configurations (src/config.py), whose network gives each tensor-parallel rank as many
/// words, rounded down; nothing is padded (src/model/gpt_modeling.py).
constexpr std::uint32_t kUnpaddedVocabulary = 50'257;
constexpr const char* kMap = "validation/maps/training_steps.json";
constexpr const char* kNetworks = "validation/data/networks";
constexpr std::string_view kWorkload = "/workload";
constexpr std::string_view kVtrain = "VIA-Research/vTrain";
constexpr std::string_view kVtrainCluster = "hgx_a100_hdr_4_nics";
/// Qi et al. state none either. Their published scripts take a SentencePiece tokenizer, and the
/// parameters in their models' names (6.2, 14.6, 28.3 billion) leave 27,000 to 35,000 words.
constexpr std::uint32_t kForkVocabulary = 32'000;

/// Layer tables of networks that were measured and have no name in the program.
std::map<std::string, std::filesystem::path> network_tables(const std::filesystem::path& root) {
    std::map<std::string, std::filesystem::path> tables;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(root / kNetworks, none))
        if (entry.path().extension() == ".csv")
            tables.emplace(entry.path().stem().string(), entry.path());
    return tables;
}

class StepRowReader {
public:
    StepRowReader(const CsvTable& table, std::string label, const std::filesystem::path& root) :
        table_(table),
        label_(std::move(label)),
        map_(read_params_file<TableMap>(root / kMap)),
        places_(root, map_.places),
        tables_(network_tables(root)),
        workload_(map_.experiment.json.at("workload")) {
        workload_.erase("type");
    }

    std::vector<StepRow> run() {
        for (const char* column : {"id", "gpu", "n_gpus", "model", "schedule"})
            if (!table_.has(column))
                problems_.push_back({label_, "line 1", fmt::format("names no column {}", column)});
        std::vector<StepRow> rows;
        if (!problems_.empty())
            throw ConfigError(std::move(problems_));
        std::vector<Problem> all;
        for (const CsvRecord& record : table_.records) {
            rows.push_back(row(record));
            // A row that cannot be read is left out with the reason; it does not stop the others.
            if (!problems_.empty()) {
                rows.back().unread = true;
                rows.back().why = problems_.front().text();
            }
            all.insert(all.end(), problems_.begin(), problems_.end());
            problems_.clear();
        }
        if (!rows.empty() && std::ranges::all_of(rows, &StepRow::unread))
            throw ConfigError(std::move(all));
        return rows;
    }

private:
    double number(const CsvRecord& record, std::string_view column) {
        const std::string& text = record[column];
        if (text.empty())
            return 0;
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || value < 0)
            problems_.push_back(
                {label_, fmt::format("line {}", record.line),
                 fmt::format("{} is \"{}\"; expected a number from 0", column, text)});
        return value;
    }
    std::uint32_t count(const CsvRecord& record, std::string_view column, std::uint32_t without) {
        const double value = number(record, column);
        return value < 1 ? without : static_cast<std::uint32_t>(value);
    }

    StepRow row(const CsvRecord& record) {
        StepRow r;
        r.id = record["id"];
        r.source = record["source"].substr(0, record["source"].find(','));
        r.gpu = record["gpu"];
        r.interconnect = record["interconnect"];
        r.gpus = count(record, "n_gpus", 0);
        r.nodes = count(record, "n_nodes", 1);
        r.samples = number(record, "global_batch");
        r.seconds = number(record, "step_ms") * 1e-3;
        if (const double pace = number(record, "samples_per_s"); r.seconds == 0 && pace > 0)
            r.seconds = r.samples / pace;
        r.tflops = number(record, "tflops_per_gpu");
        speedup(record, r);
        r.memory = number(record, "memory_gb") * 1e9;
        plan(record, r);
        if (r.speedup > 0 && r.seconds == 0 && r.over != StepRow::Over::kOther) {
            r.plan.schedule = record["schedule"];
            network(record, r);
            return r;
        }
        r.why = why_not(record, r);
        if (r.why.empty())
            network(record, r);
        if (r.why.empty())
            cut(r);
        return r;
    }

    /// A ratio and the plan that it refers to: "plan 7-1", "plan straight", "plan data parallel".
    void speedup(const CsvRecord& record, StepRow& r) {
        r.speedup = number(record, "speedup");
        const std::string& over = record["speedup_over"];
        r.over = over == "one GPU"                   ? StepRow::Over::kOneGpu
                 : over.starts_with("data parallel") ? StepRow::Over::kDataParallel
                                                     : StepRow::Over::kOther;
        const std::string& note = record["note"];
        if (!note.starts_with("plan "))
            return;
        const std::string words = note.substr(5, note.find(';') - 5);
        if (words == "straight")
            r.stages.assign(r.gpus, 1);
        r.chosen = words == "data parallel";
        if (words.find_first_not_of("0123456789-") != std::string::npos)
            return;
        r.chosen = true;
        std::uint32_t devices = 0;
        for (const char c : words + "-") {
            if (c != '-') {
                devices = devices * 10 + static_cast<std::uint32_t>(c - '0');
                continue;
            }
            r.stages.push_back(std::exchange(devices, 0));
        }
    }

    /// What the map makes of the row: validation/maps/training_steps.json.
    void plan(const CsvRecord& record, StepRow& r) {
        const auto fail = [&](const std::string& what) {
            problems_.push_back({label_, fmt::format("line {}", record.line), what});
        };
        RowValues values;
        try {
            set_mapped(map_, record, places_, label_, values);
            std::vector<Override> own;
            for (const Override& change : values.overrides())
                own.push_back({change.pointer.substr(kWorkload.size()), change.value});
            r.plan =
                plan_without_network(read_params<TrainingWorkloadParams>(workload_, label_, own));
        } catch (const RowProblem& problem) {
            fail(problem.why);
        } catch (const ConfigError& wrong) {
            for (const Problem& problem : wrong.problems())
                fail(fmt::format(
                    "{}: {}", values.from_near(std::string(kWorkload) + problem.pointer),
                    problem.message));
        }
    }

    /// Words of a row that states none.
    static std::uint32_t vocabulary_of(const CsvRecord& record, const ParallelPlan& plan) {
        if (!plan.pad_vocabulary)
            return kUnpaddedVocabulary / plan.tensor * plan.tensor;
        return record["framework"] == "Megatron-LM fork" ? kForkVocabulary : kVocabulary;
    }

    /// What a row lacks for a step to be generated; empty if nothing.
    std::string why_not(const CsvRecord& record, const StepRow& r) const {
        if (r.seconds == 0 && r.tflops == 0)
            return "it states no time of a step";
        for (const char* column : {"tp", "pp", "dp"})
            if (record[column].empty())
                return "it does not say in numbers who shares what";
        if (record["micro_batch"].empty() || r.samples == 0)
            return "it does not say its batch";
        if (ranks_of(r.plan) != r.gpus)
            return fmt::format("{} ranks on {} GPUs", ranks_of(r.plan), r.gpus);
        return {};
    }

    void network(const CsvRecord& record, StepRow& r) {
        const std::uint32_t layers = count(record, "layers", 0);
        const std::uint32_t hidden = count(record, "hidden", 0);
        const std::uint32_t heads = count(record, "heads", 0);
        const std::string& model = record["model"];
        if (layers > 0 && hidden > 0 && heads > 0 && model.starts_with("GPT")) {
            GptShape shape;
            shape.layers = layers;
            shape.hidden = hidden;
            shape.heads = heads;
            shape.sequence = count(record, "sequence", 1024);
            shape.vocabulary = count(record, "vocabulary", vocabulary_of(record, r.plan));
            shape.feed_forward = count(record, "feed_forward", 0);
            r.network = decoder(model, shape);
            return;
        }
        if (layers > 0 && hidden > 0 && heads > 0 && model.starts_with("Llama")) {
            LlamaShape shape;
            shape.layers = layers;
            shape.hidden = hidden;
            shape.heads = heads;
            shape.kv_heads = count(record, "kv_heads", heads);
            shape.sequence = count(record, "sequence", shape.sequence);
            shape.vocabulary = count(record, "vocabulary", shape.vocabulary);
            shape.feed_forward = count(record, "feed_forward", 0);
            if (shape.feed_forward == 0)
                r.why = "it does not say the width of its feed forward";
            else
                r.network = decoder(model, shape);
            return;
        }
        // Matches "Inception-v3" with inception_v3, "GNMT-16" with gnmt_16layer.
        const auto bare = [](std::string_view words) {
            std::string name;
            for (const char c : words.substr(0, words.find("layer")))
                if (std::isalnum(static_cast<unsigned char>(c)) != 0)
                    name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            return name;
        };
        for (const std::string_view name : network_names())
            if (bare(name) == bare(model))
                r.network = find_network(name);
        for (const auto& [name, file] : tables_)
            if (!r.network && bare(name) == bare(model))
                r.network = read_network_table(file);
        if (!r.network)
            r.why = fmt::format("no network {} here", model);
    }

    void cut(StepRow& r) {
        const PlanProblems problems = problems_of(r.plan, *r.network);
        if (!problems.empty()) {
            r.why = problems.front().first + ": " + problems.front().second;
            return;
        }
        r.plan.partition = equal_partition(*r.network, schedule_of(r.plan).stages());
    }

    const CsvTable& table_;
    std::string label_;
    TableMap map_;
    NamedPlaces places_;
    std::map<std::string, std::filesystem::path> tables_;  ///< of networks, by their names
    Json workload_;  ///< what the plans of all rows begin from
    std::vector<Problem> problems_;
};

}  // namespace

MachineMatch machine_of(const StepRow& row, const Machines& machines) {
    const WantedMachine wanted{row.gpu, row.interconnect, row.gpus, row.nodes};
    MachineMatch match = machines.find(wanted);
    // vTrain's rows of one node state neither memory nor network. They are taken to be of a node of
    // the cluster of its other rows, whose GPUs hold what 40 GB cannot (the system's $source).
    const auto cluster = std::ranges::find(machines.known(), kVtrainCluster, &KnownMachine::name);
    if (match.machine && row.source.starts_with(kVtrain) && row.gpu.starts_with("A100") &&
        cluster != machines.known().end())
        match = fit_machine(cluster->file, wanted);
    if (match.machine)
        match.why = why_no_kernel_times(*match.machine->system.gpu);
    return match;
}

std::vector<StepRow>
step_rows(const CsvTable& table, const std::string& label, const std::filesystem::path& root) {
    return StepRowReader(table, label, root).run();
}

std::vector<StepRow>
read_step_rows(const std::filesystem::path& path, const std::filesystem::path& root) {
    return step_rows(read_csv(path), path.string(), root);
}

}  // namespace switchfold::validation
