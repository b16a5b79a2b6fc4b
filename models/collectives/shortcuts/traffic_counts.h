// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace switchfold {

/// Links, the reduction units behind them, the memories of the GPUs at their ends, and the switches
/// that they lead to.
struct TrafficPart {
    std::vector<std::uint32_t> links;  ///< ids
    std::vector<std::uint32_t> units;  ///< as the machine numbers them
    std::vector<std::uint32_t> gpus;
    std::vector<std::uint32_t> switches;
    /// By what is counted of the part: its index among all counts.
    std::vector<std::size_t> places;
    /// A switch, through which others' data may come too. These are indices into `places`.
    struct Shared {
        std::size_t first = 0;  ///< of the switch's counts
        std::size_t size = 0;
        std::size_t packets = 0;             ///< those that came in
        std::vector<std::size_t> came_over;  ///< packets of the part's links that lead to it
    };
    std::vector<Shared> shared;
};

/// Byte and packet counters of a machine, which must include what is not simulated.
class TrafficCounts {
public:
    virtual ~TrafficCounts() = default;
    TrafficCounts() = default;
    TrafficCounts(const TrafficCounts&) = delete;
    TrafficCounts& operator=(const TrafficCounts&) = delete;
    TrafficCounts(TrafficCounts&&) = delete;
    TrafficCounts& operator=(TrafficCounts&&) = delete;

    /// What the components have counted so far, always in the same order.
    [[nodiscard]] virtual std::vector<std::uint64_t> simulated() const = 0;
    /// A count, by its index among these.
    struct Count {
        std::size_t index;
        double value;
    };
    /// What has been simulated of these links (ids), of packets that came over them to switches,
    /// and of the memories of GPUs at their ends; nothing if that is not counted.
    [[nodiscard]] virtual std::vector<Count>
    simulated_on(const std::vector<std::uint32_t>& /*links*/) const {
        return {};
    }
    /// The part of these links (ids, ascending); of no places if that is not counted.
    [[nodiscard]] virtual TrafficPart part_of(const std::vector<std::uint32_t>& /*links*/) const {
        return {};
    }
    /// What has been simulated of the part, by TrafficPart::places.
    [[nodiscard]] virtual std::vector<std::uint64_t>
    simulated_in(const TrafficPart& /*part*/) const {
        return {};
    }
    /// Counts beyond these, in the same order; empty if there are none.
    [[nodiscard]] const std::vector<double>& left_out() const { return left_out_; }

    /// The part of a possibly repeating motion that is counted begins now.
    void mark() { marked_ = simulated(); }
    /// Adds the counts since the last mark, times `times`.
    void repeat(double times);
    /// All counts so far.
    [[nodiscard]] std::vector<double> all() const;
    void add(const std::vector<double>& counts, double times);
    void add(const std::vector<Count>& counts);

private:
    std::vector<std::uint64_t> marked_;
    std::vector<double> left_out_;
};

}  // namespace switchfold
