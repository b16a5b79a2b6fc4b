// SPDX-License-Identifier: Apache-2.0
#include "workloads/kernels/matrix_product.h"

#include "workloads/kernels/kernel_constants.h"
#include "workloads/kernels/roofline.h"
#include "workloads/kernels/tile_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace switchfold {

using namespace kernel_constants;

namespace {

/// Candidate numbers of split-k parts.
constexpr std::array<std::uint32_t, 11> kSplits{1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32};
constexpr double kBytesOfSum = 4;
/// Longest side of the library's tiles for operands that are copied in small pieces (assumed).
constexpr std::uint32_t kSideInPieces = 128;

double operand_bytes(const MatrixProduct& product) {
    constexpr double kFourBits = 0.5 + 1.0 / 16;
    switch (product.datatype) {
    case Datatype::kFloat32:
        return 4;
    case Datatype::kFloat16:
    case Datatype::kBfloat16:
        return 2;
    case Datatype::kFloat8:
        return product.four_bits ? kFourBits : 1;
    default:
        throw std::invalid_argument(
            "no product is made of this type; expected float32, float16, bfloat16 or float8");
    }
}

/// Whether no matrix unit of the GPU supports the type.
bool on_vector_units(const GpuRates& gpu, Datatype type, bool tf32) {
    if (gpu.kernels == MatrixKernels::kVector || gpu.half <= 0)
        return true;
    return type == Datatype::kFloat32 && (!tf32 || gpu.tf32 <= 0);
}

struct Candidate {
    double seconds = 0;
    TileShape tile;
    std::uint32_t splits = 1;
    double l2_bytes = 0;
    double memory_bytes = 0;
    double cold_bytes = 0;
};

/// Kernels on vector units copy number by number anyway.
bool in_pieces(const MatrixProduct& product, const GpuRates& gpu) {
    return std::min(product.left_alignment, product.right_alignment) < kWholePiece &&
           !on_vector_units(gpu, product.datatype, product.tf32);
}

/// The GPU with the kernels that its library has for operands in small pieces: hardware that copies
/// whole tiles needs rows of multiples of 16 B, so the older kernels remain.
GpuRates with_kernels_for(const MatrixProduct& product, GpuRates gpu) {
    if (in_pieces(product, gpu) && persistent(gpu.kernels))
        gpu.kernels = MatrixKernels::kAsyncCopy;
    return gpu;
}

/// A product on one GPU, with the quantities common to all tiles.
class Timer {
public:
    Timer(const MatrixProduct& product, const GpuRates& gpu) :
        p_(product),
        gpu_(gpu),
        m_(static_cast<double>(product.m)),
        n_(static_cast<double>(product.n)),
        k_(static_cast<double>(product.k)),
        count_(static_cast<double>(product.count)),
        element_(operand_bytes(product)),
        stored_(product.summed_bytes > 0 ? product.summed_bytes : std::max(element_, 2.0)),
        vector_units_(on_vector_units(gpu, product.datatype, product.tf32)),
        in_pieces_(in_pieces(product, gpu)) {
        const double long_rate =
            sustained_rate(gpu, product.datatype, product.tf32, product.four_bits);
        if (long_rate <= 0)
            throw std::invalid_argument(
                fmt::format("{} has no arithmetic rate for this product", gpu.name));
        boost_ = short_term_gain(peak(), long_rate, gpu);
        rate_ = long_rate * boost_ / gpu.sms;
        left_ = count_ * m_ * k_ * element_;
        right_ = count_ * n_ * k_ * element_;
        result_ = count_ * m_ * n_ * stored_;
        sums_ = product.summed_bytes > 0 ? result_ : 0.0;
    }

    [[nodiscard]] Candidate best() const {
        const std::vector<TileShape> tiles = tile_shapes(gpu_, vector_units_);
        Candidate best;
        for (const TileShape& tile : tiles)
            for (const std::uint32_t splits : kSplits) {
                if (in_pieces_ && std::max(tile.rows, tile.columns) > kSideInPieces)
                    break;
                const double steps = std::ceil(k_ * element_ / kStepBytes);
                if (splits > 1 && (splits > steps || tiles_of(tile) * splits > 2.0 * gpu_.sms))
                    break;
                const Candidate candidate = time(tile, splits);
                if (best.seconds == 0 || candidate.seconds < best.seconds)
                    best = candidate;
            }
        if (best.seconds == 0)
            throw std::invalid_argument(
                fmt::format("no tile fits the shared memory of {}", gpu_.name));
        return best;
    }
    [[nodiscard]] double left() const { return left_; }
    [[nodiscard]] double right() const { return right_; }
    [[nodiscard]] double result() const { return result_; }  ///< bytes written
    [[nodiscard]] double tiles_of(const TileShape& tile) const {
        return count_ * std::ceil(m_ / tile.rows) * std::ceil(n_ / tile.columns);
    }

private:
    [[nodiscard]] double peak() const {
        if (vector_units_)
            return gpu_.vector;
        if (p_.datatype == Datatype::kFloat32)
            return gpu_.tf32;
        if (p_.four_bits)
            return gpu_.float4;
        return p_.datatype == Datatype::kFloat8 && gpu_.float8 > 0 ? gpu_.float8 : gpu_.half;
    }

    /// Time of the busiest SM: its tiles in rounds of as many as fit at once.
    [[nodiscard]] double arithmetic(const TileShape& tile, double tiles, double steps) const {
        const double fill = kFill * gpu_.memory_latency;
        // Reading the sums to add to runs at the rate of stores and overlaps nothing else of the
        // block.
        const double passes = sums_ > 0 ? 2 : 1;
        const double store =
            passes * tile.rows * tile.columns * stored_ / (l2_rate_of_sm(gpu_) * kStoreShare);
        const double end = kEpilogue * gpu_.memory_latency;
        const double step = std::max(
            2.0 * tile.rows * tile.columns * (kStepBytes / element_) / rate_, pieces(tile));
        // A block waits for operands if fewer steps are in flight than the latency requires.
        const double wait = kStepLatency * gpu_.memory_latency / std::max(1.0, tile.stages - 1.0);
        const double of_sm = std::ceil(tiles / gpu_.sms);
        const auto sums = [&](double together) { return steps * std::max(together * step, wait); };
        const double rounds = std::floor(of_sm / tile.blocks);
        const double rest = of_sm - rounds * tile.blocks;
        if (!tile.persistent) {
            const auto round = [&](double together) {
                return fill + sums(together) + end + together * store;
            };
            return rounds * round(tile.blocks) + (rest > 0 ? round(rest) : 0.0);
        }
        // A persistent block fetches the next tile's operands during its epilogue. Accumulators in
        // tensor memory are stored beside the next tile's arithmetic.
        const double shown = gpu_.kernels == MatrixKernels::kTensorMemory ? 0.0 : kPersistentEnd;
        const double together = std::min<double>(tile.blocks, of_sm);
        const double last = end + together * store;
        const double all_sums = rounds * sums(tile.blocks) + (rest > 0 ? sums(rest) : 0.0);
        return fill + all_sums + (std::ceil(of_sm / tile.blocks) - 1) * shown * last + last;
    }

    /// Time in which an SM copies one step of the operands that come in small pieces.
    [[nodiscard]] double pieces(const TileShape& tile) const {
        const auto of = [&](double rows, std::uint32_t alignment) {
            return alignment < kWholePiece ? rows * kStepBytes / alignment : 0.0;
        };
        const double count =
            of(tile.rows, p_.left_alignment) + of(tile.columns, p_.right_alignment);
        return in_pieces_ ? count * kPieceOfOperand / (gpu_.integer / gpu_.sms) : 0.0;
    }

    /// Bytes that all tiles read from the L2. Blocks of a cluster share loads: pairs share the
    /// longer side; with tensor memory, pairs work on one tile and pairs of pairs share both sides.
    [[nodiscard]] double operand_bytes_drawn(const TileShape& tile, double tiles) const {
        const double longer = std::max(tile.rows, tile.columns);
        const double shorter = std::min(tile.rows, tile.columns);
        const bool clusters = tile.persistent;
        const bool pairs_of_pairs = clusters && gpu_.kernels == MatrixKernels::kTensorMemory;
        const double sides =
            shorter * (pairs_of_pairs ? 0.5 : 1.0) + longer * (clusters ? 0.5 : 1.0);
        return tiles * sides * k_ * element_;
    }

    /// Operand bytes that miss an initially empty L2: all of them once, or more if a wave's rows
    /// and columns are evicted before the next wave reads them.
    [[nodiscard]] double operand_bytes_missed(const TileShape& tile, double drawn) const {
        const double once = left_ + right_;
        const auto capacity = static_cast<double>(gpu_.l2_capacity);
        if (std::min(left_, right_) / count_ <= 0.8 * capacity)
            return once;
        const double rows = std::ceil(m_ / tile.rows);
        const double columns = std::ceil(n_ / tile.columns);
        // A wave of tiles is as nearly square as the result allows.
        const double wave = std::min(rows * columns, double(gpu_.sms) * tile.blocks);
        double high = std::clamp(std::sqrt(wave * tile.columns / tile.rows), 1.0, rows);
        const double wide = std::clamp(wave / high, 1.0, columns);
        high = std::clamp(wave / wide, 1.0, rows);
        const double waves = rows * columns / (high * wide);
        const double of_wave =
            (std::min(m_, high * tile.rows) + std::min(n_, wide * tile.columns)) * k_ * element_;
        return std::max(once, std::min(drawn, count_ * waves * of_wave));
    }

    [[nodiscard]] Candidate time(const TileShape& tile, std::uint32_t splits) const {
        Candidate c;
        c.tile = tile;
        c.splits = splits;
        const double result_tiles = tiles_of(tile);
        const double tiles = result_tiles * splits;
        const double steps = std::ceil(k_ / splits * element_ / kStepBytes);
        const double compute = arithmetic(tile, tiles, steps);
        const double busy = std::min(tiles, double(gpu_.sms));

        const double drawn = operand_bytes_drawn(tile, result_tiles);
        c.l2_bytes = drawn + result_ + sums_;
        const double missed = operand_bytes_missed(tile, drawn);
        c.cold_bytes = missed + result_ + sums_;
        const double own = left_ + right_ + result_;
        const double hit = left_ * (1 - cold_share(p_.since_left + own, gpu_)) +
                           right_ * (1 - cold_share(p_.since_right + own, gpu_));
        c.memory_bytes = c.cold_bytes - hit;
        const double l2 = c.l2_bytes / l2_rate(gpu_, busy);
        const double memory =
            c.memory_bytes / (kOperandShare * memory_bandwidth(gpu_, result_ / c.memory_bytes));
        const double fill = kFill * gpu_.memory_latency;
        double seconds = overlapped(compute, std::max(l2, memory) + fill);
        seconds += at_power_limit(compute, boost_) - compute;
        if (splits > 1)
            seconds += kSplitSum * gpu_.memory_latency +
                       (splits + 1) * count_ * m_ * n_ * kBytesOfSum / (gpu_.l2_bandwidth / 2);
        c.seconds = seconds + gpu_.launch;
        return c;
    }

    const MatrixProduct& p_;
    const GpuRates& gpu_;
    double m_;
    double n_;
    double k_;
    double count_;
    double element_;
    double stored_;  ///< bytes per element of the result
    bool vector_units_;
    bool in_pieces_;
    double boost_ = 1;
    double rate_ = 0;  ///< per SM, before the power limit
    double left_ = 0;
    double right_ = 0;
    double result_ = 0;
    double sums_ = 0;  ///< bytes of the sums that the result is added to
};

}  // namespace

double sustained_rate(const GpuRates& gpu, Datatype datatype, bool tf32, bool four_bits) {
    if (four_bits)
        return gpu.half > 0 ? gpu.matrix * gpu.float4 / gpu.half : 0;
    if (on_vector_units(gpu, datatype, tf32))
        // If matrix units reach the stated rate, vector units reach four fifths of theirs.
        return gpu.half > 0 ? 0.8 * gpu.vector : gpu.matrix;
    if (datatype == Datatype::kFloat32)
        return gpu.matrix * gpu.tf32 / gpu.half;
    if (datatype == Datatype::kFloat8 && gpu.float8 > 0)
        return gpu.matrix * gpu.float8 / gpu.half;
    return gpu.matrix;
}

KernelEstimate estimate(const MatrixProduct& product, const GpuRates& rates) {
    if (product.m == 0 || product.n == 0 || product.k == 0 || product.count == 0)
        throw std::invalid_argument("a matrix product has a side of 0; expected 1 or more");
    if (product.left_alignment == 0 || product.right_alignment == 0)
        throw std::invalid_argument("rows of an operand are aligned to 0 B; expected 1 or more");
    const GpuRates gpu = with_kernels_for(product, rates);
    const Timer timer(product, gpu);
    const Candidate best = timer.best();
    const TileShape& tile = best.tile;
    const double tiles = timer.tiles_of(tile) * best.splits;
    KernelEstimate result;
    KernelOperation& kernel = result.kernel;
    kernel.kernel_class = KernelClass::kGemmConv;
    kernel.flops = 2.0 * static_cast<double>(product.m) * static_cast<double>(product.n) *
                   static_cast<double>(product.k) * static_cast<double>(product.count);
    kernel.grid.x = static_cast<std::uint32_t>(
        std::min(tile.persistent ? std::min(tiles, double(gpu.sms) * tile.blocks) : tiles, 4e9));
    kernel.block.x = tile.threads;
    kernel.registers_per_thread = tile.registers;
    kernel.shared_memory = Bytes(tile.shared_memory);
    kernel.isolated = kernel_duration(best.seconds);
    kernel.bytes_read = Bytes(static_cast<std::uint64_t>(best.cold_bytes - timer.result()));
    kernel.bytes_written = Bytes(static_cast<std::uint64_t>(timer.result()));
    kernel.byte_source = ByteSource::kShapes;
    kernel.l2_share = static_cast<float>(1 - best.memory_bytes / best.cold_bytes);
    kernel.duration_source = DurationSource::kModel;
    result.waves = static_cast<std::uint32_t>(
        std::clamp(std::ceil(tiles / (double(gpu.sms) * tile.blocks)), 1.0, 4e9));
    result.l2_bytes = best.l2_bytes;
    result.memory_bytes = best.memory_bytes;
    result.choice = best.splits == 1
                        ? fmt::format("{}x{}", tile.rows, tile.columns)
                        : fmt::format("{}x{}, {} splits", tile.rows, tile.columns, best.splits);
    return result;
}

}  // namespace switchfold
