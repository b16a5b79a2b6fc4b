// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/data.h"
#include "validation/harness/suite.h"
#include "validation/kernels/flash_attention.h"
#include "validation/kernels/gpu_ratios.h"
#include "validation/kernels/kernel_gpus.h"
#include "validation/kernels/profiled_layers.h"
#include "validation/kernels/timed_kernels.h"
#include "validation/machines/bounds.h"
#include "workloads/kernels/kernel_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace switchfold::validation {

namespace {

constexpr std::string_view kAttention = "reference/attention.csv";
/// Sizes that several GPUs were measured with, for ratios alone.
constexpr std::array<std::string_view, 2> kOnGpus{
    "reference/gemm_on_gpus.csv", "reference/attention_on_gpus.csv"};

std::string band(double seconds) {
    constexpr double kShort = 10e-6;
    constexpr double kLong = 100e-6;
    if (seconds < kShort)
        return "under 10 us";
    return seconds < kLong ? "10 to 100 us" : "over 100 us";
}

/// Whether constants may have been fitted to the row: an A100 or H100 module, bfloat16, and a size
/// in the fitted half.
bool is_fitted(const MeasuredKernel& row, const std::string& size) {
    const MachineWords words = machine_words(row.gpu);
    return (words.gpu == "A100" || words.gpu == "H100") && !words.pcie.value_or(false) &&
           row.datatype == Datatype::kBfloat16 && in_fitted_half(size);
}

class KernelComparison {
public:
    KernelComparison(const KernelGpus& gpus, SuiteResult& result) : gpus_(gpus), result_(result) {}

    /// The table's kernels; `shown`: not for ratios alone.
    void add(const KernelTable& table, bool shown = true) {
        shown_ = shown;
        for (const MeasuredProduct& row : table.products)
            add(row, "products", size_of_row(row.product), row.product);
        for (const MeasuredAttention& row : table.attentions)
            add(row, "attention", size_of_row(row.attention), row.attention);
    }
    [[nodiscard]] const std::vector<KernelOnGpu>& on_gpus() const { return on_gpus_; }

private:
    template <class Shape>
    void
    add(const MeasuredKernel& row, const char* kind, const std::string& size, const Shape& shape) {
        const std::string id = fmt::format("{}/{}/{}/{}", row.gpu, row.dtype, kind, size);
        if (!row.datatype) {
            result_.unmatched.push_back(
                {id, fmt::format("the datatype \"{}\" is not modelled", row.dtype)});
            return;
        }
        const KernelGpus::Match match = gpus_.find(row.gpu);
        if (match.gpu == nullptr) {
            result_.unmatched.push_back({id, match.why});
            return;
        }
        if (std::string why =
                why_impossible(shape, *match.gpu, match.memory_bandwidth, row.seconds);
            !why.empty()) {
            result_.unmatched.push_back({id, fmt::format("line {}: {}", row.line, why)});
            return;
        }
        try {
            const TimedKernel timed = timed_kernel(shape, *match.gpu);
            Case c;
            c.id = id;
            c.fitted = is_fitted(row, size);
            c.group = fmt::format(
                "{} {} {}, {}{}", row.gpu, row.dtype, kind, band(row.seconds),
                c.fitted ? ", fitted half" : "");
            c.quantity = "time";
            c.unit = "us";
            c.measured = row.seconds * 1e6;
            c.simulated = timed.seconds * 1e6;
            c.how = timed.how;
            c.like = kernel_likeness(
                row.gpu, kind == std::string_view("products") ? "product" : kind, c.simulated);
            c.machine = row.gpu;
            on_gpus_.push_back(
                {row.gpu, fmt::format("{} {}", row.dtype, kind), size, row.seconds, timed.seconds,
                 c.fitted});
            if (shown_)
                result_.cases.push_back(std::move(c));
        } catch (const std::invalid_argument& wrong) {
            result_.unmatched.push_back({id, wrong.what()});
        }
    }

    const KernelGpus& gpus_;
    SuiteResult& result_;
    std::vector<KernelOnGpu> on_gpus_;
    bool shown_ = true;
};

}  // namespace

SuiteResult run_kernels(const SuiteOptions& options) {
    const Suite& suite = suite_named("kernels");
    const auto data = data_of(suite, options);
    if (!data)
        return skipped(suite);
    SuiteResult result;
    result.name = suite.name;
    const KernelGpus gpus(options.root);
    KernelComparison comparison(gpus, result);
    comparison.add(read_kernel_table(*data));
    // A single named file is compared without others.
    const bool alone = options.data && *options.data == *data;
    if (const auto attention = find_data(options, kAttention); attention && !alone)
        comparison.add(read_kernel_table(*attention));
    if (!alone)
        for (const std::string_view table : kOnGpus)
            if (const auto path = find_data(options, table))
                comparison.add(read_kernel_table(*path), false);
    compare_gpu_ratios(comparison.on_gpus(), result);
    if (!alone) {
        compare_flash_attention(options, gpus, result);
        compare_profiled_layers(options, gpus, result);
    }
    return result;
}

}  // namespace switchfold::validation
