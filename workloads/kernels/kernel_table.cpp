// SPDX-License-Identifier: Apache-2.0
#include "workloads/kernels/kernel_table.h"

#include "core/csv_reader.h"
#include "core/error.h"
#include "core/text_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

namespace switchfold {

namespace {

constexpr std::array<std::pair<std::string_view, Datatype>, 11> kDatatypes{
    {{"bfloat16", Datatype::kBfloat16},
     {"bf16", Datatype::kBfloat16},
     {"float16", Datatype::kFloat16},
     {"fp16", Datatype::kFloat16},
     {"half", Datatype::kFloat16},
     {"float32", Datatype::kFloat32},
     {"fp32", Datatype::kFloat32},
     {"float8", Datatype::kFloat8},
     {"fp8", Datatype::kFloat8},
     {"fp8_e4m3", Datatype::kFloat8},
     {"float8_e4m3fn", Datatype::kFloat8}}};

class KernelTableReader {
public:
    KernelTableReader(std::string_view text, const std::string& label) :
        reader_(text, CsvReader::Cells::kTrimmed), label_(label) {
        reader_.next(header_);
    }

    KernelTable run() {
        const bool products = has({"m", "n", "k"});
        const bool attentions = has({"batch", "sequence", "heads", "kv_heads", "head_dim"});
        if (!products && !attentions)
            fail(
                1, "has neither columns m, n, k nor batch, sequence, heads, kv_heads, head_dim; "
                   "expected products or attention");
        if (products && attentions)
            fail(1, "has columns of products and of attention; expected one kind a table");
        for (const std::string_view column : {"dtype", "time_us"})
            if (!has({column}))
                fail(1, fmt::format("has no column {}; expected it", column));
        stop_if_wrong();
        KernelTable table;
        while (reader_.next(cells_)) {
            line_ = reader_.line();
            if (cells_.size() != header_.size())
                fail(
                    line_, fmt::format("has {} cells; expected {}", cells_.size(), header_.size()));
            else if (products)
                table.products.push_back(product());
            else
                table.attentions.push_back(attention());
        }
        if (problems_.empty() && table.products.empty() && table.attentions.empty())
            fail(1, "is followed by no kernel; expected at least one");
        stop_if_wrong();
        return table;
    }

private:
    void fail(std::size_t line, std::string what) {
        problems_.push_back({label_, fmt::format("line {}", line), std::move(what)});
    }
    void stop_if_wrong() {
        if (!problems_.empty())
            throw ConfigError(std::move(problems_));
    }
    [[nodiscard]] bool has(std::initializer_list<std::string_view> columns) const {
        return std::all_of(columns.begin(), columns.end(), [&](std::string_view column) {
            return std::find(header_.begin(), header_.end(), column) != header_.end();
        });
    }
    [[nodiscard]] std::string_view cell(std::string_view column) const {
        const auto at = std::find(header_.begin(), header_.end(), column);
        if (at == header_.end())
            return {};
        return cells_[static_cast<std::size_t>(at - header_.begin())];
    }
    std::uint64_t whole(std::string_view column) {
        constexpr std::uint64_t kMost = std::uint64_t{1} << 40U;
        const std::string_view text = cell(column);
        const auto value = parse_count(text);
        if (value && *value > 0 && *value <= kMost)
            return *value;
        fail(line_, fmt::format("{} is \"{}\"; expected a whole number from 1", column, text));
        return 1;
    }
    void read_common(MeasuredKernel& kernel) {
        kernel.line = line_;
        kernel.gpu = cell("gpu");
        kernel.dtype = cell("dtype");
        for (const auto& [name, type] : kDatatypes)
            if (name == kernel.dtype)
                kernel.datatype = type;
        const std::string_view text = cell("time_us");
        const double us = parse_decimal(text).value_or(0);
        constexpr double kMost = 1e12;
        if (!(us > 0) || !(us < kMost))
            fail(
                line_,
                fmt::format(
                    "time_us is \"{}\"; expected a number of microseconds above 0 and below 1e12",
                    text));
        kernel.seconds = us * 1e-6;
    }
    MeasuredProduct product() {
        MeasuredProduct row;
        read_common(row);
        row.product.m = whole("m");
        row.product.n = whole("n");
        row.product.k = whole("k");
        row.product.datatype = row.datatype.value_or(Datatype::kBfloat16);
        return row;
    }
    MeasuredAttention attention() {
        MeasuredAttention row;
        read_common(row);
        Attention& a = row.attention;
        a.batch = whole("batch");
        a.queries = whole("sequence");
        a.keys = a.queries;
        a.heads = whole("heads");
        a.kv_heads = whole("kv_heads");
        a.head_width = whole("head_dim");
        a.datatype = row.datatype.value_or(Datatype::kBfloat16);
        if (a.heads % a.kv_heads != 0)
            fail(
                line_, fmt::format(
                           "kv_heads is {}, which does not divide {} heads; expected a divisor",
                           a.kv_heads, a.heads));
        return row;
    }

    CsvReader reader_;
    const std::string& label_;
    std::vector<std::string> header_;
    std::vector<std::string> cells_;
    std::size_t line_ = 1;
    std::vector<Problem> problems_;
};

}  // namespace

KernelTable parse_kernel_table(std::string_view text, const std::string& label) {
    return KernelTableReader(text, label).run();
}

KernelTable read_kernel_table(const std::filesystem::path& path) {
    return parse_kernel_table(read_text(path), path.string());
}

}  // namespace switchfold
