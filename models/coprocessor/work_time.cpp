// SPDX-License-Identifier: Apache-2.0
#include "models/coprocessor/work_time.h"

#include "models/coprocessor/memory_rate.h"

#include <algorithm>
#include <cmath>

namespace switchfold {

namespace {

constexpr double kFloatBytes = 4;  // bytes
/// Registers of a loop other than accumulators: the loaded vector and a temporary.
constexpr std::uint32_t kOtherRegisters = 2;

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) {
    return (a + b - 1) / b;
}

double seconds_of_cycle(const ProcessorParams& processor) {
    return 1.0 / static_cast<double>(processor.clock.count());
}

/// Half of a cache holds reused data while the other half streams.
double room(Bytes capacity) {
    return static_cast<double>(capacity.count()) / 2;
}

/// Issue time: the maximum of the busiest thread, which cannot issue every cycle, and of the core,
/// which issues once per cycle.
double issue_seconds(const ProcessorParams& processor, double busiest_thread, double core) {
    return std::max(busiest_thread * processor.issue_interval, core) * seconds_of_cycle(processor);
}

/// Issue slots per vector of results, besides sums and stores.
template <class Loop>
double results(const Loop& loop, const ProcessorParams& processor) {
    return static_cast<double>(loop.operations) + (loop.sigmoid ? processor.sigmoid_slots : 0);
}

double longest(const LineSeconds& lines) {
    return std::max(lines.of_thread, lines.of_core);
}

/// Latency of lines that another core holds or has fetched.
Time near_latency(const ProcessorParams& processor) {
    return processor.cache.shared_capacity.count() > 0 ? processor.cache.shared_latency
                                                       : processor.cache.remote_latency;
}

/// A core whose teams have a given number of rows each.
class ProductCore {
public:
    ProductCore(
        const offload::ProductLoop& loop, const ProcessorParams& processor,
        const ThreadLayout& layout, std::uint64_t rows) :
        loop_(loop),
        processor_(processor),
        layout_(layout),
        rows_(static_cast<double>(rows)),
        all_rows_(rows_ * layout.teams_per_core) {}

    [[nodiscard]] CoreStage stage() const {
        CoreStage stage;
        const double instructions = issue();
        const double lines = move(stage);
        stage.seconds = std::max({instructions, cached(), lines}) + nested();
        return stage;
    }

private:
    /// Vectors of a row's results that one core of the team computes; cores with one less wait.
    [[nodiscard]] std::uint64_t vectors() const {
        return ceil_div(ceil_div(loop_.width, processor_.simd_lanes), layout_.cores_of_team);
    }
    /// Multiply-adds that share a loaded vector, on average: blocks fill the registers, and the
    /// last one takes what is left.
    [[nodiscard]] double block() const {
        const double most = processor_.vector_registers - kOtherRegisters;
        const double there = loop_.block > 0 ? static_cast<double>(loop_.block) : rows_;
        return there / std::ceil(there / most);
    }
    /// Vector multiply-adds per thread.
    [[nodiscard]] double multiply_adds(double vectors) const {
        return rows_ * static_cast<double>(loop_.depth) * vectors;
    }

    [[nodiscard]] double issue() const {
        const double of_result = results(loop_, processor_);
        const auto instructions = [&](double vectors) {
            return multiply_adds(vectors) * (1 + processor_.step_slots / block()) +
                   rows_ * vectors * of_result;
        };
        const auto busiest = static_cast<double>(ceil_div(vectors(), layout_.threads_beside()));
        return issue_seconds(
            processor_, instructions(busiest),
            instructions(static_cast<double>(vectors())) * layout_.teams_per_core);
    }

    /// Time to load vectors from the core's own cache.
    [[nodiscard]] double cached() const {
        const double loads = multiply_adds(static_cast<double>(vectors())) / block();
        const double lines = loads * processor_.simd_lanes * kFloatBytes / processor_.cache.line;
        return lines * layout_.teams_per_core * processor_.cache.private_cycles_per_line *
               seconds_of_cycle(processor_);
    }

    /// Time for data from beyond the core's own cache.
    [[nodiscard]] double move(CoreStage& stage) const {
        const double own = all_rows_ * static_cast<double>(loop_.row_bytes);
        const double own_room = room(processor_.cache.private_capacity);
        // All rows that fit are processed with each line of the weights, by all of the core's
        // teams. A core of a larger team needs the weights of its own neurons only.
        const double passes = std::max(1.0, own / own_room);
        const double team = layout_.cores_of_team;
        const double shared = static_cast<double>(loop_.shared_bytes) / team * passes;
        // One core fetches a line from memory; the others find it in that core's cache.
        double memory = shared * team / layout_.cores;
        double near = shared - memory;
        // Each core of a team reads all of its rows, of which the others have written their
        // neurons.
        const double from_others = own * (team - 1) / team;
        near += from_others;
        if (own > own_room) {
            const bool fits = own * layout_.cores / team <= room(processor_.cache.shared_capacity);
            (fits ? near : memory) += own - from_others;
        }
        const double result = static_cast<double>(loop_.team_bytes) / team * layout_.teams_per_core;
        if (result > own_room)
            memory += result;
        stage.memory_bytes = memory;
        stage.ring_bytes = memory + near;
        stage.streams = layout_.threads_of_core();
        const double threads = layout_.threads_of_core();
        const double line = processor_.cache.line;
        return longest(line_seconds(
                   processor_, memory / line / threads, threads, processor_.memory.latency)) +
               longest(line_seconds(
                   processor_, near / line / threads, threads, near_latency(processor_)));
    }

    /// Nested regions, one per row. With too few hardware threads, software threads take turns
    /// until all have arrived.
    [[nodiscard]] double nested() const {
        if (layout_.nested <= 1)
            return 0;
        const double turns =
            2.0 * (layout_.oversubscribed - 1) * to_seconds(processor_.context_switch);
        return rows_ * (fork_seconds(processor_, layout_.nested) +
                        barrier_seconds(processor_, layout_.nested) + turns);
    }

    const offload::ProductLoop& loop_;
    const ProcessorParams& processor_;
    const ThreadLayout& layout_;
    double rows_;      ///< per team
    double all_rows_;  ///< of all the core's teams
};

/// Elements of the busiest thread on its core.
CoreStage element_stage(
    const offload::ElementLoop& loop, const ProcessorParams& processor, const ThreadLayout& layout,
    std::uint64_t elements) {
    const double threads = layout.threads_of_core();
    const auto vectors = static_cast<double>(ceil_div(elements, processor.simd_lanes));
    const double stores = loop.bytes_written > 0 ? 1 : 0;
    const double instructions = vectors * (results(loop, processor) + stores);
    const auto read = static_cast<double>(elements * loop.bytes_read);
    const auto written = static_cast<double>(elements * loop.bytes_written);
    const double line = processor.cache.line;
    CoreStage stage;
    stage.memory_bytes = threads * (loop.from_other_teams ? 0 : read + written);
    stage.ring_bytes = threads * (read + written);
    stage.streams = threads * static_cast<double>(loop.arrays);
    const LineSeconds lines = line_seconds(
        processor, (read + written) / line, threads,
        loop.from_other_teams ? near_latency(processor) : processor.memory.latency);
    stage.seconds =
        std::max(issue_seconds(processor, instructions, instructions * threads), longest(lines));
    return stage;
}

}  // namespace

double issue_share(const ProcessorParams& processor, std::uint32_t threads) {
    return std::min(1.0, static_cast<double>(threads) / processor.issue_interval);
}

std::vector<CoreGroup> groups_of(
    const offload::ProductLoop& loop, const ProcessorParams& processor,
    const ThreadLayout& layout) {
    const std::uint64_t least = loop.rows / layout.teams();
    const std::uint64_t more = loop.rows % layout.teams();
    // A core waits for its team with most rows.
    const auto cores =
        static_cast<std::uint32_t>(ceil_div(more, layout.teams_per_core)) * layout.cores_of_team;
    std::vector<CoreGroup> groups;
    if (cores > 0)
        groups.push_back({cores, {ProductCore(loop, processor, layout, least + 1).stage()}});
    if (least > 0 && cores < layout.cores)
        groups.push_back(
            {layout.cores - cores, {ProductCore(loop, processor, layout, least).stage()}});
    return groups;
}

std::vector<CoreGroup> groups_of(
    const offload::ElementLoop& loop, const ProcessorParams& processor,
    const ThreadLayout& layout) {
    const std::uint64_t least = loop.elements / layout.threads();
    const std::uint64_t more = loop.elements % layout.threads();
    const auto cores = static_cast<std::uint32_t>(ceil_div(more, layout.threads_of_core()));
    std::vector<CoreGroup> groups;
    if (cores > 0)
        groups.push_back({cores, {element_stage(loop, processor, layout, least + 1)}});
    if (least > 0 && cores < layout.cores)
        groups.push_back({layout.cores - cores, {element_stage(loop, processor, layout, least)}});
    return groups;
}

std::vector<CoreGroup> groups_of(
    const offload::LibraryProduct& product, const ProcessorParams& processor,
    const ThreadLayout& layout) {
    const ProcessorLibraryParams& library = processor.library;
    const std::uint64_t tiles =
        ceil_div(product.m, library.tile_rows) * ceil_div(product.n, library.tile_columns);
    // A tile at the edge takes as long as a full one.
    const double tile =
        static_cast<double>(library.tile_rows) *
        static_cast<double>(ceil_div(library.tile_columns, processor.simd_lanes)) *
        static_cast<double>(product.k) /
        (library.kernel_efficiency * issue_share(processor, layout.threads_of_core())) *
        seconds_of_cycle(processor);
    const std::uint64_t least = tiles / layout.cores;
    const auto more = static_cast<std::uint32_t>(tiles % layout.cores);
    std::vector<CoreGroup> groups;
    if (more > 0)
        groups.push_back({more, {CoreStage{static_cast<double>(least + 1) * tile}}});
    if (least > 0)
        groups.push_back({layout.cores - more, {CoreStage{static_cast<double>(least) * tile}}});
    return groups;
}

offload::ElementLoop packing_of(const offload::LibraryProduct& product) {
    // Operands are read, and written in packed form; results are read and written as well.
    constexpr std::uint64_t kWord = 4;
    return {
        product.m * product.k + product.k * product.n + product.m * product.n,
        kWord,
        kWord,
        2,
        1,
        false,
        false};
}

}  // namespace switchfold
