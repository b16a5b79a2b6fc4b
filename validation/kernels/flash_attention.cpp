// SPDX-License-Identifier: Apache-2.0
#include "validation/kernels/flash_attention.h"

#include "sim/core/error.h"
#include "sim/core/units.h"
#include "validation/harness/csv.h"
#include "validation/harness/data.h"
#include "workloads/kernels/attention.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

namespace switchfold::validation {

namespace {

constexpr double kTolerance = 0.15;  ///< mean absolute error by kernel

struct Row {
    std::string gpu;
    std::string kernel;
    Attention attention;
    double tflops = 0;
};

class RateReader {
public:
    explicit RateReader(std::string label) : label_(std::move(label)) {}

    Row row(const CsvRecord& record) {
        return {record["gpu"], record["kernel"], shape(record), number(record, "tflops")};
    }
    /// Throws all problems.
    void end() {
        if (!problems_.empty())
            throw ConfigError(std::move(problems_));
    }

private:
    double number(const CsvRecord& record, const char* column) {
        const std::string& text = record[column];
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || !(value > 0))
            refuse(record, column, "a number above 0");
        return value;
    }
    Attention shape(const CsvRecord& record) {
        Attention a;
        a.batch = count(record, "batch");
        a.queries = a.keys = count(record, "sequence");
        a.heads = a.kv_heads = count(record, "heads");
        a.head_width = count(record, "head_dim");
        a.causal = one_of(record, "causal", "yes", "no");
        a.newest = one_of(record, "kernel", "fused", "flash_2");
        a.datatype = one_of(record, "dtype", "float16", "bfloat16") ? Datatype::kFloat16
                                                                    : Datatype::kBfloat16;
        return a;
    }
    std::uint64_t count(const CsvRecord& record, const char* column) {
        return static_cast<std::uint64_t>(number(record, column));
    }
    bool one_of(const CsvRecord& record, const char* column, const char* yes, const char* no) {
        if (record[column] != yes && record[column] != no)
            refuse(record, column, fmt::format("{} or {}", yes, no));
        return record[column] == yes;
    }
    void refuse(const CsvRecord& record, const char* column, const std::string& expected) {
        problems_.push_back(
            {label_,
             fmt::format("line {}", record.line),
             fmt::format("{} is \"{}\"; expected {}", column, record[column], expected)});
    }

    std::string label_;
    std::vector<Problem> problems_;
};

std::vector<Row> read_rows(const std::filesystem::path& path) {
    RateReader reader(path.string());
    std::vector<Row> rows;
    for (const CsvRecord& record : read_csv(path).records)
        rows.push_back(reader.row(record));
    reader.end();
    return rows;
}

}  // namespace

void compare_flash_attention(
    const SuiteOptions& options, const KernelGpus& gpus, SuiteResult& result) {
    const auto path = find_data(options, "reference/flash_attention.csv");
    if (!path)
        return;
    std::vector<Case> cases;
    for (const Row& row : read_rows(*path)) {
        const Attention& a = row.attention;
        const std::string kind = a.causal ? "causal" : "all scores";
        Case c;
        c.id = fmt::format(
            "{}/{}/{}x{}, {} heads of {}, {}",
            row.gpu,
            row.kernel,
            a.batch,
            a.queries,
            a.heads,
            a.head_width,
            kind);
        const KernelGpus::Match match = gpus.find(row.gpu);
        if (match.gpu == nullptr) {
            result.unmatched.push_back({c.id, match.why});
            continue;
        }
        const double operations = 4.0 * static_cast<double>(a.batch * a.heads * a.head_width) *
                                  static_cast<double>(a.queries) * static_cast<double>(a.keys) /
                                  (a.causal ? 2 : 1);
        c.group = fmt::format("{} {}, {}", row.gpu, row.kernel, kind);
        c.quantity = "rate";
        c.unit = "TFLOP/s";
        c.measured = row.tflops;
        c.simulated = operations / to_seconds(estimate(a, *match.gpu).kernel.isolated) * 1e-12;
        cases.push_back(std::move(c));
    }
    std::map<std::string, std::vector<const Case*>> groups;
    for (const Case& c : cases)
        groups[c.group].push_back(&c);
    for (const auto& [group, members] : groups)
        result.verdicts.push_back(
            {fmt::format("attention, {}: mean absolute error", group), mape(members), kTolerance});
    result.cases.insert(result.cases.end(), cases.begin(), cases.end());
}

}  // namespace switchfold::validation
