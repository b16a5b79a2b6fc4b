// SPDX-License-Identifier: Apache-2.0
#include "validation/kernels/flash_attention.h"

#include "core/units.h"
#include "validation/harness/csv_numbers.h"
#include "validation/harness/data.h"
#include "validation/kernels/timed_kernels.h"
#include "validation/machines/bounds.h"
#include "workloads/kernels/attention.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace switchfold::validation {

namespace {

struct Row {
    std::string gpu;
    std::string kernel;
    Attention attention{};
    double tflops = 0;
};

/// Which of two words the field is; true: the first.
bool is_first(
    CsvNumbers& numbers, const CsvRecord& record, const char* column, std::string_view first,
    std::string_view second) {
    if (record[column] != first && record[column] != second)
        numbers.fail(record, column, fmt::format("{} or {}", first, second));
    return record[column] == first;
}

std::vector<Row> read_rows(const std::filesystem::path& path) {
    CsvNumbers numbers(path.string());
    std::vector<Row> rows;
    for (const CsvRecord& record : read_csv(path).records) {
        const auto count = [&](const char* column) {
            return numbers.needed<std::uint64_t>(record, column, 1, "a whole number from 1")
                .value_or(1);
        };
        Row row{record["gpu"], record["kernel"]};
        Attention& a = row.attention;
        a.batch = count("batch");
        a.queries = a.keys = count("sequence");
        a.heads = a.kv_heads = count("heads");
        a.head_width = count("head_dim");
        a.causal = is_first(numbers, record, "causal", "yes", "no");
        a.newest = is_first(numbers, record, "kernel", "fused", "flash_2");
        a.datatype = is_first(numbers, record, "dtype", "float16", "bfloat16")
                         ? Datatype::kFloat16
                         : Datatype::kBfloat16;
        constexpr double kAboveZero = std::numeric_limits<double>::min();
        row.tflops =
            numbers.needed<double>(record, "tflops", kAboveZero, "a number above 0").value_or(1);
        rows.push_back(std::move(row));
    }
    numbers.throw_if_failed();
    return rows;
}

}  // namespace

void compare_flash_attention(
    const SuiteOptions& options, const KernelGpus& gpus, SuiteResult& result) {
    const auto path = find_data(options, "reference/flash_attention.csv");
    if (!path)
        return;
    for (const Row& row : read_rows(*path)) {
        const Attention& a = row.attention;
        const std::string kind = a.causal ? "causal" : "all scores";
        Case c;
        c.id = fmt::format(
            "{}/{}/{}x{}, {} heads of {}, {}", row.gpu, row.kernel, a.batch, a.queries, a.heads,
            a.head_width, kind);
        const KernelGpus::Match match = gpus.find(row.gpu);
        if (match.gpu == nullptr) {
            result.unmatched.push_back({c.id, match.why});
            continue;
        }
        c.group = fmt::format("{} {}, {}", row.gpu, row.kernel, kind);
        c.quantity = "rate";
        c.unit = "TFLOP/s";
        c.measured = row.tflops;
        const double seconds = to_seconds(estimate(a, *match.gpu).kernel.isolated);
        c.simulated = operations_of(a) / seconds * 1e-12;
        c.like = kernel_likeness(row.gpu, "attention", seconds * 1e6);
        c.machine = row.gpu;
        result.cases.push_back(std::move(c));
    }
}

}  // namespace switchfold::validation
