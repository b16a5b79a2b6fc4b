// SPDX-License-Identifier: Apache-2.0
#include "validation/averaging/coprocessor_rows.h"

#include "sim/many_core/rates.h"
#include "sim/runner.h"
#include "sim/sweep/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

namespace switchfold::validation {

namespace {

constexpr std::uint64_t kStreamElements = 64'000'000;
constexpr std::uint32_t kStreamCores = 60;
constexpr double kGiga = 1e9;
/// The published speed-up over a socket, and the tolerance for each point of the sweep.
constexpr double kClaimed = 4.5;
constexpr double kBand = 0.25;
constexpr double kLeastStream = 160;
constexpr double kMostStream = 175;

constexpr std::array<std::pair<std::string_view, StreamKernel>, 5> kStream{
    {{"phi_se10p_stream_copy", StreamKernel::kCopy},
     {"phi_se10p_stream_scale", StreamKernel::kScale},
     {"phi_se10p_stream_add", StreamKernel::kAdd},
     {"phi_se10p_stream_triad", StreamKernel::kTriad},
     {"phi_stampede_stream", StreamKernel::kTriad}}};

/// Rows whose values are parameters of the model, by the parameter's file.
constexpr std::array<std::string_view, 7> kParameters{"phi_5110p_memory",    "phi_5110p_bandwidth",
                                                      "phi_7120p_bandwidth", "phi_latency_l2",
                                                      "phi_latency_memory",  "phi_pcie",
                                                      "phi_cpu_bandwidth"};

/// Speed-ups of the sweep's points, over the first scenario.
struct SweepSpeedups {
    std::vector<double> two_level;
    std::vector<double> over_turbo;  ///< the socket at the clock of its turbo
    std::vector<double> in_pairs;    ///< a copy of the gradients per core, added in pairs, on both
    std::vector<double> library_over_library;
    /// Points within the band around the claim.
    [[nodiscard]] static std::ptrdiff_t within(const std::vector<double>& values) {
        return std::ranges::count_if(
            values, [](double speedup) { return std::abs(speedup / kClaimed - 1) <= kBand; });
    }
    [[nodiscard]] static double median(std::vector<double> values) {
        std::ranges::sort(values);
        return values[values.size() / 2];
    }
};

class CoprocessorRows {
public:
    CoprocessorRows(const SuiteOptions& options, SuiteResult& result) :
        options_(options), result_(result) {}

    void compare(const std::vector<AveragingRow>& rows) {
        std::vector<const AveragingRow*> claims;
        for (const AveragingRow& row : rows) {
            if (!is_of_coprocessor(row))
                continue;
            if (row.quantity == "speedup")
                claims.push_back(&row);
            else if (const auto rate = peak_of(row.id))
                add(row, "peaks", *rate, false, "cores x clock x lanes x 2, two threads a core");
            else if (const auto kernel = stream_of(row.id))
                add_stream(row, *kernel);
            else
                unmatched(row);
        }
        if (!streams_.empty())
            tell_stream();
        if (!claims.empty())
            tell_claims(claims);
    }

private:
    [[nodiscard]] ProcessorParams processor(const std::string& name) const {
        return load_processor(options_.root / "configs/processors" / (name + ".json"));
    }

    void
    add(const AveragingRow& row, const std::string& group, double simulated, bool fitted,
        std::string how) {
        Case c;
        c.id = row.id;
        c.group = group;
        c.quantity = row.quantity;
        c.unit = row.unit;
        c.measured = row.value;
        c.simulated = simulated;
        c.fitted = fitted;
        c.how = std::move(how);
        result_.cases.push_back(std::move(c));
    }

    /// GFLOP/s; a 64-bit number occupies two lanes.
    [[nodiscard]] std::optional<double> peak_of(std::string_view id) const {
        if (id == "phi_5110p_dp")
            return arithmetic_rate(processor("phi_5110p"), 2) / 2 / kGiga;
        if (id == "phi_5110p_sp")
            return arithmetic_rate(processor("phi_5110p"), 2) / kGiga;
        if (id == "phi_se10p_dp")
            return arithmetic_rate(processor("phi_se10p"), 2) / 2 / kGiga;
        if (id == "phi_cpu_dp_sp")
            return arithmetic_rate(processor("xeon_e5_2670"), 1) / kGiga;
        return std::nullopt;
    }
    [[nodiscard]] static std::optional<StreamKernel> stream_of(std::string_view id) {
        for (const auto& [known, kernel] : kStream)
            if (id == known)
                return kernel;
        return std::nullopt;
    }

    void add_stream(const AveragingRow& row, StreamKernel kernel) {
        const double rate =
            stream_rate(processor("phi_se10p"), kernel, kStreamCores, 1, kStreamElements) / kGiga;
        streams_.push_back(rate);
        add(row, "STREAM", rate, true,
            fmt::format("{} cores of an SE10P, one thread each", kStreamCores));
    }

    /// Notes that lines in flight were fitted on triad; the other results, including the loss with
    /// more threads, were not.
    void tell_stream() {
        double outside = 0;
        for (const double rate : streams_)
            outside = std::max({outside, rate / kMostStream - 1, 1 - rate / kLeastStream});
        result_.verdicts.push_back(
            {fmt::format("STREAM beyond {:.0f} to {:.0f} GB/s", kLeastStream, kMostStream),
             std::max(0.0, outside), 0});
        const ProcessorParams phi = processor("phi_se10p");
        std::string rates;
        for (std::uint32_t threads = 1; threads <= phi.threads_per_core; ++threads)
            rates += fmt::format(
                "{}{:.1f}", rates.empty() ? "" : ", ",
                stream_rate(phi, StreamKernel::kTriad, kStreamCores, threads, kStreamElements) /
                    kGiga);
        result_.notes.push_back(fmt::format(
            "triad with 1 to {} threads on each of {} cores: {} GB/s", phi.threads_per_core,
            kStreamCores, rates));
    }

    [[nodiscard]] SweepSpeedups run_sweep() const {
        const SweepPlan plan =
            plan_sweep(options_.root / "configs/sweeps/coprocessor_over_socket.json");
        SweepSpeedups all;
        for (const SweepPoint& point : plan.points) {
            RunOptions run;
            run.in_process = true;
            const ExperimentResult done = run_experiment(load_point(plan, point), run);
            const auto pace = [&](std::string_view name) {
                for (const ScenarioResult& s : done.scenarios)
                    if (s.name == name)
                        return *s.samples_per_s;
                throw ConfigError(
                    plan.files.sweep.string(), "/experiment",
                    fmt::format("has no scenario \"{}\"; expected it", name));
            };
            all.two_level.push_back(pace("two_level") / pace("socket"));
            all.over_turbo.push_back(pace("two_level") / pace("socket at 3 GHz"));
            all.in_pairs.push_back(
                pace("a copy a core, in pairs") / pace("socket, a copy a core, in pairs"));
            all.library_over_library.push_back(pace("library") / pace("socket, library"));
        }
        return all;
    }

    void tell_claims(const std::vector<const AveragingRow*>& claims) {
        const SweepSpeedups sweep = run_sweep();
        const double median = SweepSpeedups::median(sweep.two_level);
        const auto [least, most] = std::ranges::minmax(sweep.two_level);
        for (const AveragingRow* row : claims)
            add(*row, "claims beside ours", median, false,
                "own loops over own loops on a socket, median of the sweep; processor and sizes of "
                "the claim are not stated");
        result_.verdicts.push_back(
            {fmt::format(
                 "speed-up over a socket, the farthest of {} points of coprocessor_over_socket, "
                 "from {}",
                 sweep.two_level.size(), kClaimed),
             std::max(most / kClaimed - 1, 1 - least / kClaimed), kBand});
        result_.notes.push_back(fmt::format(
            "speed-up over a socket: {:.2f} to {:.2f}, median {:.2f}; {} of {} points within "
            "{:.0f} % of {}; over the socket at the clock of its turbo: {}, median {:.2f}; with a "
            "copy of the gradients per core, added in pairs: {}; library over the socket's "
            "library: {}, median {:.2f}",
            least, most, median, SweepSpeedups::within(sweep.two_level), sweep.two_level.size(),
            100 * kBand, kClaimed, SweepSpeedups::within(sweep.over_turbo),
            SweepSpeedups::median(sweep.over_turbo), SweepSpeedups::within(sweep.in_pairs),
            SweepSpeedups::within(sweep.library_over_library),
            SweepSpeedups::median(sweep.library_over_library)));
        result_.notes.push_back("claims are shown beside ours, not reproduced: their processors, "
                                "layers and batches are "
                                "not published");
    }

    void unmatched(const AveragingRow& row) {
        const bool parameter = std::ranges::find(kParameters, row.id) != kParameters.end();
        result_.unmatched.push_back(
            {row.id, parameter ? "is a parameter of configs/processors, or of a system's link"
                               : "is the error of somebody else's model"});
    }

    const SuiteOptions& options_;
    SuiteResult& result_;
    std::vector<double> streams_;
};

}  // namespace

bool is_of_coprocessor(const AveragingRow& row) {
    return row.hardware.find("Xeon Phi") != std::string::npos ||
           row.hardware.find("Xeon E5") != std::string::npos;
}

void compare_coprocessor(
    const std::vector<AveragingRow>& rows, const SuiteOptions& options, SuiteResult& result) {
    CoprocessorRows(options, result).compare(rows);
}

}  // namespace switchfold::validation
