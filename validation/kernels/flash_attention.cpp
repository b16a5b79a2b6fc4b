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

/// Which of two words the field is; true: the first.
bool is_first(
    CsvNumbers& numbers, const CsvRecord& record, const char* column, std::string_view first,
    std::string_view second) {
    if (record[column] != first && record[column] != second)
        numbers.fail(record, column, fmt::format("{} or {}", first, second));
    return record[column] == first;
}

Attention attention_of(CsvNumbers& numbers, const CsvRecord& record) {
    const auto count = [&](const char* column) {
        return numbers.needed<std::uint64_t>(record, column, 1, "a whole number from 1")
            .value_or(1);
    };
    Attention a{};
    a.batch = count("batch");
    a.queries = a.keys = count("sequence");
    a.heads = a.kv_heads = count("heads");
    a.head_width = count("head_dim");
    a.causal = is_first(numbers, record, "causal", "yes", "no");
    a.newest = is_first(numbers, record, "kernel", "fused", "flash_2");
    a.datatype = is_first(numbers, record, "dtype", "float16", "bfloat16") ? Datatype::kFloat16
                                                                           : Datatype::kBfloat16;
    return a;
}

}  // namespace

void compare_flash_attention(
    const SuiteOptions& options, const KernelGpus& gpus, SuiteResult& result) {
    const auto path = find_data(options, "reference/flash_attention.csv");
    if (!path)
        return;
    CsvNumbers numbers(path->string());
    for (const CsvRecord& record : read_csv(*path).records) {
        constexpr double kAboveZero = std::numeric_limits<double>::min();
        const std::string& gpu = record["gpu"];
        const Attention a = attention_of(numbers, record);
        const auto tflops =
            numbers.needed<double>(record, "tflops", kAboveZero, "a number above 0");
        const std::string kind = a.causal ? "causal" : "all scores";
        Case c;
        c.id = fmt::format(
            "{}/{}/{}x{}, {} heads of {}, {}", gpu, record["kernel"], a.batch, a.queries, a.heads,
            a.head_width, kind);
        c.measured = tflops.value_or(1);
        const KernelGpus::Match match = gpus.find(gpu);
        if (match.gpu == nullptr) {
            result.unmatched.push_back({c.id, match.why});
            continue;
        }
        c.group = fmt::format("{} {}, {}", gpu, record["kernel"], kind);
        c.quantity = "rate";
        c.unit = "TFLOP/s";
        const double seconds = to_seconds(estimate(a, *match.gpu).kernel.isolated);
        c.simulated = operations_of(a) / seconds * 1e-12;
        c.like = kernel_likeness(gpu, "attention", seconds * 1e6);
        c.machine = gpu;
        result.cases.push_back(std::move(c));
    }
    numbers.throw_if_failed();
}

}  // namespace switchfold::validation
