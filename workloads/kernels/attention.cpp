// SPDX-License-Identifier: Apache-2.0
#include "workloads/kernels/attention.h"

#include "workloads/kernels/kernel_constants.h"
#include "workloads/kernels/matrix_product.h"
#include "workloads/kernels/roofline.h"
#include "workloads/kernels/tile_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <stdexcept>
#include <vector>

namespace switchfold {

using namespace kernel_constants;

namespace {

constexpr std::uint64_t kRows = 128;  ///< per tile: queries forward, keys backward
/// Up to this many tiles, their order is simulated exactly.
constexpr double kFollowed = 4096;

/// Multiply-adds of a query and a key: the score, and its product with the value; backward the
/// score again, and the gradients of queries, keys, values and scores.
double depth_of(const Attention& a) {
    const auto scored = static_cast<double>(a.head_width);
    const auto values = static_cast<double>(value_width_of(a));
    return a.backward ? 3 * scored + 2 * values : scored + values;
}

/// Whether blocks stay and process one tile after another, longest first, with instructions of warp
/// groups.
bool stays(const Attention& a, const GpuRates& gpu) {
    return a.newest && persistent(gpu.kernels);
}

/// Of the products that libraries reach on the GPU, what this kernel's instructions do.
double matrix_share(const Attention& a, const GpuRates& gpu) {
    return persistent(gpu.kernels) && !a.newest ? kSingleWarpMatrixShare : 1.0;
}

/// Time when the last of `tiles`, repeated over `heads`, ends on the SMs. Persistent kernels start
/// the longest tiles first; others go through each head's rows in order, so the longest tiles start
/// last.
double makespan(
    const std::vector<double>& tiles, double heads, bool ascending, bool longest_first,
    double sms) {
    double total = 0;
    for (const double tile : tiles)
        total += tile;
    const double longest = *std::max_element(tiles.begin(), tiles.end());
    const double count = static_cast<double>(tiles.size()) * heads;
    if (count <= sms)
        return longest;
    if (count > kFollowed) {
        const double tail = longest_first ? total / static_cast<double>(tiles.size()) : longest;
        return std::max(longest, total * heads / sms + tail / 2);
    }
    std::priority_queue<double, std::vector<double>, std::greater<>> free;
    for (int sm = 0; sm < static_cast<int>(sms); ++sm)
        free.push(0);
    double end = 0;
    const auto put = [&](double seconds) {
        const double at = free.top() + seconds;
        free.pop();
        free.push(at);
        end = std::max(end, at);
    };
    const auto each_head = [&](double tile) {
        for (double head = 0; head < heads; ++head)
            put(tile);
    };
    if (longest_first && ascending)
        std::for_each(tiles.rbegin(), tiles.rend(), each_head);
    else if (longest_first)
        std::for_each(tiles.begin(), tiles.end(), each_head);
    else
        for (double head = 0; head < heads; ++head)
            std::for_each(tiles.begin(), tiles.end(), put);
    return end;
}

void check(const Attention& a) {
    if (a.batch == 0 || a.queries == 0 || a.keys == 0 || a.heads == 0 || a.kv_heads == 0 ||
        a.head_width == 0)
        throw std::invalid_argument("attention has a size of 0; expected 1 or more");
    constexpr double kMostRows = 1U << 31U;
    if (static_cast<double>(std::max(a.queries, a.keys)) * static_cast<double>(a.heads) > kMostRows)
        throw std::invalid_argument("attention has more than 2^31 rows a sample; expected fewer");
    if (a.heads % a.kv_heads != 0)
        throw std::invalid_argument(fmt::format(
            "{} heads share {} keys and values; expected a divisor", a.heads, a.kv_heads));
}

}  // namespace

KernelEstimate estimate(const Attention& a, const GpuRates& gpu) {
    check(a);
    const double long_rate = sustained_rate(gpu, a.datatype, false);
    if (long_rate <= 0 || gpu.vector <= 0)
        throw std::invalid_argument(
            fmt::format("{} has no arithmetic rate for attention", gpu.name));
    const double width = static_cast<double>(std::max(a.head_width, value_width_of(a)));
    const double depth = depth_of(a);
    const double sms = gpu.sms;
    const bool staying = stays(a, gpu);
    const double step_keys = staying ? 128 : 64;  // that a block processes per step
    const double scores = static_cast<double>(kRows) * step_keys;
    const double peak =
        gpu.half > 0 && a.datatype != Datatype::kFloat32
            ? (a.datatype == Datatype::kFloat8 && gpu.float8 > 0 ? gpu.float8 : gpu.half)
            : gpu.vector;
    const double boost = short_term_gain(peak, long_rate, gpu);
    const double step =
        2 * scores * depth / (matrix_share(a, gpu) * long_rate * boost / sms) +
        (a.backward ? kScoreOperationsBack : kScoreOperations) * scores / (gpu.vector / sms);
    const double wait = gpu.memory_latency;
    const double fill = kAttentionTile * gpu.memory_latency;

    // Queries that share keys and values form one tile, token by token. In backward, a tile holds
    // keys and iterates over the queries that attend to them.
    const std::uint64_t sharing = a.heads / a.kv_heads;
    const std::uint64_t rows = a.backward ? a.keys : a.queries * sharing;
    const std::uint64_t tiles = (rows + kRows - 1) / kRows;
    const std::uint64_t past = a.keys > a.queries ? a.keys - a.queries : 0;
    std::vector<double> seconds(tiles);
    double steps_of_all = 0;
    for (std::uint64_t i = 0; i < tiles; ++i) {
        double seen = 0;
        if (a.backward) {
            const std::uint64_t first = i * kRows;
            const std::uint64_t skipped =
                a.causal && first > past ? std::min(first - past, a.queries) : 0;
            const std::uint64_t in_window =
                a.window == 0 ? a.queries : std::min(a.queries, kRows + a.window - 1);
            seen = static_cast<double>(std::min(a.queries - skipped, in_window));
        } else {
            const std::uint64_t last_token = (std::min(rows, (i + 1) * kRows) - 1) / sharing;
            const std::uint64_t tokens = (kRows + sharing - 1) / sharing;
            const std::uint64_t in_window =
                a.window == 0 ? a.keys : std::min(a.keys, tokens + a.window - 1);
            seen =
                static_cast<double>(a.causal ? std::min(in_window, past + last_token + 1) : a.keys);
        }
        const double steps = std::max(1.0, std::ceil(seen / step_keys));
        steps_of_all += steps;
        seconds[i] = fill + steps * std::max(step, wait);
    }
    const double heads =
        static_cast<double>(a.batch) * static_cast<double>(a.backward ? a.heads : a.kv_heads);
    const double compute = makespan(seconds, heads, !a.backward, staying, sms);

    // Queries, keys, values and result once each; backward also the gradients of all four.
    const double both = static_cast<double>(a.head_width + value_width_of(a)) / 2;
    const double element = element_bytes(a.datatype);
    const auto samples = static_cast<double>(a.batch);
    const double rows_of_queries =
        samples * static_cast<double>(a.queries) * static_cast<double>(a.heads) * element;
    const double of_queries = rows_of_queries * static_cast<double>(a.head_width);
    const double of_result = rows_of_queries * static_cast<double>(value_width_of(a));
    const double of_keys =
        samples * static_cast<double>(a.keys) * static_cast<double>(a.kv_heads) * both * element;
    const double read = of_queries + 2 * of_keys + (a.backward ? 2 * of_result : 0);
    const double written = a.backward ? of_queries + 2 * of_keys : of_result;
    const double memory =
        (read + written) / (kOperandShare * memory_bandwidth(gpu, written / (read + written)));

    double total = overlapped(compute, memory);
    total += at_power_limit(compute, boost) - compute + gpu.launch;

    KernelEstimate result;
    KernelOperation& kernel = result.kernel;
    kernel.isolated = kernel_duration(total);
    kernel.kernel_class = KernelClass::kAttention;
    kernel.flops = 2 * scores * depth * steps_of_all * heads;
    kernel.grid.x = static_cast<std::uint32_t>(std::min(static_cast<double>(tiles) * heads, 4e9));
    kernel.block.x = staying ? 384 : 256;
    kernel.registers_per_thread = staying ? 168 : 255;
    kernel.shared_memory = Bytes(std::min<std::uint64_t>(
        gpu.shared_memory - gpu.shared_memory_of_a_block,
        static_cast<std::uint64_t>((kRows + 4 * step_keys) * width * element)));
    kernel.bytes_read = Bytes(static_cast<std::uint64_t>(read));
    kernel.bytes_written = Bytes(static_cast<std::uint64_t>(written));
    kernel.byte_source = ByteSource::kShapes;
    kernel.l2_share = 0;
    kernel.duration_source = DurationSource::kModel;
    result.memory_bytes = read + written;
    result.l2_bytes = of_queries + 2 * steps_of_all * heads * step_keys * both * element;
    result.choice = fmt::format("{} tiles of {} rows", kernel.grid.x, kRows);
    return result;
}

}  // namespace switchfold
