// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "sim/config/load.h"
#include "sim/machine/host_copy_rates.h"
#include "sim/workload/kernel_model.h"
#include "training/memory/access/network_schedule.h"
#include "training/memory/accounting/liveness.h"
#include "training/memory/accounting/zero.h"
#include "training/memory/compare/largest_batch.h"
#include "training/memory/recompute/network_chain.h"
#include "training/memory/step/step_memory.h"
#include "training/network/zoo/zoo.h"
#include "validation/memory/memory_row.h"
#include "workloads/kernels/memory_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

/// Bytes that follow from a network's shapes, formulas of published systems, and numbers that
/// public inputs answer: a GPU's memory bandwidth, a host's links. Each source has its own
/// accounting.

namespace switchfold::validation {

namespace {

constexpr double kGB = 1e9;
constexpr double kMebi = 1024.0 * 1024.0;

constexpr double kSingle = sizeof(float);  ///< bytes a number of these rows' tensors

/// \pre a network has this name
Network network_named(std::string_view name) {
    auto network = find_network(name);
    SWITCHFOLD_CHECK(network.has_value(), "no network {}", name);
    return std::move(*network);
}

TensorUses schedule_of(std::string_view name, std::uint32_t batch) {
    NetworkScheduleOptions options;
    options.batch = batch;
    return network_schedule(network_named(name), options);
}

const LayerUse& step_named(const TensorUses& schedule, std::string_view name) {
    const auto found =
        std::find_if(schedule.steps.begin(), schedule.steps.end(), [&](const LayerUse& step) {
            return step.name == name;
        });
    SWITCHFOLD_CHECK(found != schedule.steps.end(), "no step {}", name);
    return *found;
}

double open_bytes(const TensorUses& schedule, std::string_view step) {
    double sum = 0;
    for (const ItemAccess& access : step_named(schedule, step).open)
        sum += static_cast<double>(schedule.items[access.item].bytes);
    return sum;
}

/// vDNN's X in bytes: inputs and outputs of convolutions and pools, with ReLU in place, and the
/// image.
double feature_maps(std::string_view name, std::uint32_t batch) {
    const Network network = network_named(name);
    double elements = static_cast<double>(network.layers.front().in_elements);
    for (const Layer& layer : network.layers)
        if (layer.type == "conv" || layer.type == "maxpool")
            elements += static_cast<double>(layer.out_elements);
    return elements * batch * kSingle;
}

double largest_output(std::string_view name) {
    std::uint64_t most = 0;
    for (const Layer& layer : network_named(name).layers)
        most = std::max(most, layer.out_elements);
    return static_cast<double>(most) * kSingle;
}

/// X, the outputs of linear layers and the two largest gradients of a sample.
double vgg19_sample() {
    double linear = 0;
    for (const Layer& layer : network_named("vgg19").layers)
        if (layer.type == "linear")
            linear += static_cast<double>(layer.out_elements) * kSingle;
    return feature_maps("vgg19", 1) + linear + 2 * largest_output("vgg19");
}

double weights_of(std::string_view name) {
    return static_cast<double>(parameters(network_named(name))) * kSingle;
}

/// Bytes kept for backward when it begins: all live data except weights and moments.
double activations_at_backward(std::string_view name) {
    NetworkScheduleOptions options;
    options.update_in_backward = true;
    const TensorUses schedule = network_schedule(network_named(name), options);
    const auto first =
        std::find_if(schedule.steps.begin(), schedule.steps.end(), [](const LayerUse& step) {
            return step.kind == UseKind::kBackward;
        });
    double fixed = static_cast<double>(schedule.resident_bytes);
    for (const MemoryItem& item : schedule.items)
        fixed += item.persistent ? static_cast<double>(item.bytes) : 0;
    const auto live = live_bytes(schedule);
    return static_cast<double>(live[static_cast<std::size_t>(first - schedule.steps.begin())]) -
           fixed;
}

// ZeRO-Infinity's example: 5 T parameters on 512 V100, batch 3 per GPU, sequences of 1,024.
constexpr double kPeak = 70e12;
constexpr double kTokens = 1024;
constexpr double kSamples = 3;
constexpr double kGpuLink = 70e9;
constexpr double kNvme = 512 * 1.6e9;  // of all nodes together: each holds its shard of the states

double lost_by_parameters() {
    return 1 - unhidden_efficiency(intensity_of_parameters(kTokens, kSamples), kGpuLink, kPeak);
}
double lost_by_optimizer() {
    return 1 - unhidden_efficiency(intensity_of_optimizer(kTokens, kSamples), kNvme, kPeak);
}

/// "4 billion parameters"
double parameters_of(const MemoryRow& row) {
    constexpr double kBillion = 1e9;
    return std::strtod(row.network.c_str(), nullptr) * kBillion;
}

/// Checkmate's memory: 16e9 bytes less weights and their gradients. Activations, and gradients of
/// the layer at work, follow from the chain.
using CheckmatePlan = std::uint64_t (*)(const std::vector<ChainUnit>&);
double largest_batch_of_vgg19(CheckmatePlan bytes) {
    const Network network = network_named("vgg19");
    const double memory = 16e9 - 2 * static_cast<double>(parameters(network)) * kSingle;
    constexpr std::uint32_t kBeyond = 4096;  // a sample makes tens of megabytes
    return largest_batch(kBeyond, [&](std::uint32_t samples) {
        NetworkChainOptions options;
        options.batch = samples;
        options.element = sizeof(float);
        return static_cast<double>(bytes(network_chain(network, options))) <= memory;
    });
}

std::uint64_t by_square_root(const std::vector<ChainUnit>& chain) {
    const auto root = static_cast<std::uint32_t>(std::lround(std::sqrt(chain.size())));
    return cost_of(chain, recompute_every(chain, root)).peak;
}

/// Chen et al. 2016, algorithm 3: a segment ends where what it makes exceeds a budget, and the best
/// budget is searched.
std::uint64_t by_greedy_segments(const std::vector<ChainUnit>& chain) {
    std::uint64_t all = 0;
    for (const ChainUnit& unit : chain)
        all += unit.input + unit.inside;
    std::uint64_t least = cost_of(chain, keep_all(chain)).peak;
    constexpr std::uint64_t kBudgets = 64;
    for (std::uint64_t i = 1; i <= kBudgets; ++i) {
        RecomputePlan plan;
        std::uint64_t made = 0;
        for (std::uint32_t unit = 0; unit < chain.size(); ++unit) {
            made += chain[unit].input + chain[unit].inside;
            if (plan.empty() || made > all / kBudgets * i) {
                plan.push_back({SegmentMode::kRecompute, unit, unit});
                made = 0;
            }
            plan.back().last = unit;
        }
        least = std::min(least, cost_of(chain, plan).peak);
    }
    return least;
}

std::uint64_t by_exact_plan(const std::vector<ChainUnit>& chain) {
    return least_recompute_memory(chain);
}

/// PyTorch's Adam before it had fused forms, kernel by kernel in 32 bits: arrays read and written.
constexpr std::array<std::pair<int, int>, 8> kAdamKernels{{
    {1, 1},  // exp_avg.mul_(beta1)
    {2, 1},  // .add_(grad)
    {1, 1},  // exp_avg_sq.mul_(beta2)
    {3, 1},  // .addcmul_(grad, grad)
    {1, 1},  // exp_avg_sq.sqrt()
    {1, 1},  // / sqrt(bias_correction2)
    {1, 1},  // .add_(eps)
    {3, 1},  // param.addcdiv_(exp_avg, denom)
}};

/// Seconds of those through a V100's memory, one by one.
double unfused_adam(double parameters, const SuiteOptions& options) {
    const SystemParams system =
        load_system(options.root / "configs/systems/dgx2_v100_host.json", {});
    const KernelTimes times(gpu_rates(*system.gpu));
    double seconds = 0;
    for (const auto& [read, written] : kAdamKernels) {
        MemoryKernel kernel;
        kernel.read = read * parameters * kSingle;
        kernel.written = written * parameters * kSingle;
        seconds += times.estimate(kernel).seconds();
    }
    return seconds;
}

/// Rates of copies of 256 MiB between a host and as many GPUs as the row's map says.
MemoryAnswer host_copies(const MemoryRow& row, const SuiteOptions& options, bool duplex) {
    const SystemParams system =
        load_system(options.root / row.values.find("/system")->get<std::string>(), {});
    const auto gpus = row.values.find("/gpus")->get<std::uint32_t>();
    const Bytes bytes = mebibytes(256);
    const double one_way = host_copy_rates(system, {gpus, bytes, Bytes(0)}).to_device;
    return {
        duplex ? host_copy_rates(system, {gpus, bytes, bytes}).both / (2 * one_way)
               : one_way * 1e-9,
        system.name, "copies between GPUs and their host", MemoryVerdict::kHostCopies,
        row.values.find("/fitted") != nullptr};
}

/// A rule that depends on nothing of its row.
struct Counted {
    double (*value)();
    const char* how;
    const char* group = "";
    MemoryVerdict verdict = MemoryVerdict::kNone;
};

const std::map<std::string, Counted, std::less<>>& counted_rules() {
    constexpr const char* kParameter = "bytes a parameter";
    constexpr const char* kBeside = "published beside ours";
    static const std::map<std::string, Counted, std::less<>> kRules{
        {"backward_of_lrn1",
         {[] { return open_bytes(schedule_of("alexnet_one_tower_227", 200), "B lrn1") / kMebi; },
          "what backward of LRN 1 has open", "", MemoryVerdict::kLargestLayer}},
        {"feature_maps", {[] { return feature_maps("vgg16", 256) / kGB; }, "all X"}},
        {"forward_of_first_relu",
         {[] { return open_bytes(schedule_of("vgg16", 228), "F features.relu0") / kGB; },
          "what forward of the first ReLU has open"}},
        {"vgg19_sample", {[] { return vgg19_sample() / 1e6; }, "X and the two largest dX"}},
        {"largest_batch_keeping_all",
         {[] { return std::floor((16e9 - 2 * weights_of("vgg19")) / vgg19_sample()); },
          "16e9 bytes less weights and gradients; 16 GiB would give 174"}},
        {"largest_batch_by_square_root",
         {[] { return largest_batch_of_vgg19(by_square_root); },
          "segments of the square root of its layers", kBeside, MemoryVerdict::kSources}},
        // The source does not tell the budgets of its search.
        {"largest_batch_by_greedy_segments",
         {[] { return largest_batch_of_vgg19(by_greedy_segments); },
          "segments of the best budget of memory", kBeside}},
        {"largest_batch_by_exact_plan",
         {[] { return largest_batch_of_vgg19(by_exact_plan); },
          "the least memory of a plan that runs no forward more than twice", kBeside,
          MemoryVerdict::kSources}},
        {"states",
         {[] {
              return double{state_bytes_on_gpu({false, false})};
          },
          "p16, g16 and 12", kParameter, MemoryVerdict::kStates}},
        {"states_without_gradients",
         {[] {
              return double{state_bytes_on_gpu({true, false})};
          },
          "p16 and 12", kParameter, MemoryVerdict::kStates}},
        {"states_without_update",
         {[] {
              return double{state_bytes_on_gpu({false, true})};
          },
          "p16 and g16", kParameter, MemoryVerdict::kStates}},
        {"states_of_weights",
         {[] {
              return double{state_bytes_on_gpu({true, true})};
          },
          "p16", kParameter, MemoryVerdict::kStates}},
        {"lost_by_parameters", {lost_by_parameters, "its formula, 70 GB/s"}},
        {"lost_by_optimizer", {lost_by_optimizer, "its formula, 512 x 1.6 GB/s"}},
        {"updated_after_backward",
         {[] { return 5 * weights_of("vit_l_16") / kGB; },
          "weights, gradients, two moments, temporaries"}},
        {"updated_inside_backward",
         {[] { return (3 * weights_of("vit_l_16") + activations_at_backward("vit_l_16")) / kGB; },
          "weights, two moments, activations of our own shapes"}}};
    return kRules;
}

MemoryAnswer counted(const MemoryRow& row, const SuiteOptions& /*options*/) {
    const Counted& rule = counted_rules().find(row.rule)->second;
    return {rule.value(), rule.how, rule.group, rule.verdict};
}

const std::map<std::string, MemoryRule, std::less<>> kRules{
    {"pin", pinned_bytes},
    {"gradient", gradient_memory},
    {"host_read",
     [](const auto& row, const auto& options) { return host_copies(row, options, false); }},
    {"duplex_factor",
     [](const auto& row, const auto& options) { return host_copies(row, options, true); }},
    // The source does not tell the forms of the kernels.
    {"unfused_adam",
     [](const auto& row, const auto& options) {
         return MemoryAnswer{
             unfused_adam(parameters_of(row), options),
             "PyTorch's kernels of the time, one by one through a V100's memory",
             "published beside ours"};
     }},
    {"host_adam", [](const auto& row, const auto& /*options*/) {
         return MemoryAnswer{
             parameters_of(row) / MemoryChoice().host_rate, "the host's rate, chosen on these rows",
             "updates by a host", MemoryVerdict::kNone, true};
     }}};

}  // namespace

MemoryRule memory_rule(std::string_view name) {
    if (counted_rules().contains(name))
        return counted;
    const auto found = kRules.find(name);
    return found == kRules.end() ? nullptr : found->second;
}

}  // namespace switchfold::validation
