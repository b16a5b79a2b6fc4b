// SPDX-License-Identifier: Apache-2.0
#include "workloads/kernels/measured_times.h"

#include "core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace switchfold {

namespace {

/// Neighbours count up to this distance, in doublings.
constexpr double kReach = 2;
/// Weight of the model, relative to the neighbours' 1 / distance^2.
constexpr double kModelWeight = 0.05;

}  // namespace

std::optional<MeasuredTimes::Key> MeasuredTimes::key_of(const MatrixProduct& p) {
    if (p.tf32 || p.four_bits)
        return std::nullopt;
    return Key{{p.m, p.n, p.k, p.count}, static_cast<std::uint64_t>(p.datatype)};
}

std::optional<MeasuredTimes::Key> MeasuredTimes::key_of(const Attention& a) {
    if (a.backward || !a.causal || a.keys != a.queries || a.window != 0 ||
        value_width_of(a) != a.head_width)
        return std::nullopt;
    return Key{
        {a.batch, a.queries, a.heads, a.kv_heads},
        a.head_width * 256 + static_cast<std::uint64_t>(a.datatype)};
}

std::array<double, 4> MeasuredTimes::logs_of(const Key& key) {
    std::array<double, 4> logs{};
    std::transform(key.sides.begin(), key.sides.end(), logs.begin(), [](std::uint64_t side) {
        return std::log2(static_cast<double>(side));
    });
    return logs;
}

MeasuredTimes::MeasuredTimes(
    const KernelTable& table, const GpuRates& gpu, const std::string& label) {
    std::vector<Problem> problems;
    const auto fail = [&](std::size_t line, std::string what) {
        problems.push_back({label, fmt::format("line {}", line), std::move(what)});
    };
    std::string first_gpu;
    const auto add = [&](std::vector<Point>& points, const MeasuredKernel& row, const auto& shape) {
        if (first_gpu.empty())
            first_gpu = row.gpu;
        if (row.gpu != first_gpu)
            return fail(
                row.line,
                fmt::format(
                    "is of {}, and others of {}; expected kernels of one GPU", row.gpu, first_gpu));
        if (!row.datatype)
            return fail(
                row.line,
                fmt::format(
                    "dtype is \"{}\"; expected bfloat16, float16, float32 or float8", row.dtype));
        try {
            const double modelled = estimate(shape, gpu).seconds();
            const Key key = *key_of(shape);
            points.push_back(
                {key, logs_of(key), row.seconds, std::log(row.seconds / modelled), row.line});
        } catch (const std::invalid_argument& wrong) {
            fail(row.line, wrong.what());
        }
    };
    for (const MeasuredProduct& row : table.products)
        add(products_, row, row.product);
    for (const MeasuredAttention& row : table.attentions)
        add(attentions_, row, row.attention);
    for (std::vector<Point>* points : {&products_, &attentions_}) {
        std::stable_sort(points->begin(), points->end(), [](const Point& a, const Point& b) {
            return a.key < b.key;
        });
        for (std::size_t i = 1; i < points->size(); ++i)
            if ((*points)[i].key == (*points)[i - 1].key)
                fail(
                    (*points)[i].line,
                    fmt::format(
                        "is the size of line {}; expected each size once", (*points)[i - 1].line));
    }
    if (!problems.empty())
        throw ConfigError(std::move(problems));
}

std::optional<double> MeasuredTimes::exact(const std::vector<Point>& points, const Key& key) {
    const auto at = std::lower_bound(
        points.begin(), points.end(), key,
        [](const Point& point, const Key& wanted) { return point.key < wanted; });
    if (at == points.end() || at->key != key)
        return std::nullopt;
    return at->seconds;
}

double MeasuredTimes::ratio(const std::vector<Point>& points, const Key& key) {
    const std::array<double, 4> logs = logs_of(key);
    double sum = 0;
    double weights = kModelWeight;
    for (const Point& point : points) {
        if (point.key.kind != key.kind)
            continue;
        double square = 0;
        for (std::size_t i = 0; i < logs.size(); ++i)
            square += (logs[i] - point.logs[i]) * (logs[i] - point.logs[i]);
        const double distance = std::sqrt(square);
        if (distance == 0)
            return std::exp(point.log_ratio);
        if (distance >= kReach)
            continue;
        // Decreases to zero at kReach, so that the correction fades out continuously.
        const double weight = (kReach - distance) * (kReach - distance) / square;
        sum += weight * point.log_ratio;
        weights += weight;
    }
    return std::exp(sum / weights);
}

std::optional<double> MeasuredTimes::exact(const MatrixProduct& product) const {
    if (product.summed_bytes > 0)
        return std::nullopt;  // tables hold products that overwrite their result
    const auto key = key_of(product);
    return key ? exact(products_, *key) : std::nullopt;
}
std::optional<double> MeasuredTimes::exact(const Attention& attention) const {
    const auto key = key_of(attention);
    return key ? exact(attentions_, *key) : std::nullopt;
}
double MeasuredTimes::ratio(const MatrixProduct& product) const {
    const auto key = key_of(product);
    return key ? ratio(products_, *key) : 1.0;
}
double MeasuredTimes::ratio(const Attention& attention) const {
    const auto key = key_of(attention);
    return key ? ratio(attentions_, *key) : 1.0;
}

}  // namespace switchfold
