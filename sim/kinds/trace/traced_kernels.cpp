// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/trace/traced_kernels.h"

#include "sim/kinds/trace/traced_gpus.h"
#include "sim/workload/kernel_model.h"
#include "workloads/kernels/rescaled_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace switchfold {

namespace {

/// Kernels that were rescaled, and their time.
struct Rescaled {
    std::array<std::uint64_t, 3> kernels{};  ///< by ScaledBy
    double there = 0;                        ///< seconds
    double here = 0;
    double least = 0;
    double most = 0;
    void add(const KernelOperation& kernel, const RescaledTime& time) {
        ++kernels[static_cast<std::size_t>(time.by)];
        there += to_seconds(kernel.isolated);
        here += to_seconds(time.isolated);
        least += to_seconds(time.least);
        most += to_seconds(time.most);
    }
};

std::string note_of(const Rescaled& all, const std::string& traced, const std::string& simulated) {
    std::string note = fmt::format(
        "kernels alone take {:.3f} times as long on {} as where the trace was recorded, on {}, by "
        "the ratio of modelled times (docs/contention.md#a-kernel-alone): {} by the shapes of "
        "their operators, "
        "{} by their bytes",
        all.there > 0 ? all.here / all.there : 1.0, simulated, traced, all.kernels[0],
        all.kernels[1]);
    if (all.kernels[2] > 0)
        note += fmt::format(
            ", {} by their launches alone: between {:.3f} and {:.3f} times if these wait for SMs "
            "or for memory",
            all.kernels[2], all.least / all.there, all.most / all.there);
    return note;
}

class KernelSetter {
public:
    KernelSetter(
        const TraceWorkloadParams& w, const WorkloadContext& context, const SystemParams& traced_on,
        const std::vector<TraceFileReport>& files, PreparedWorkload& out) :
        w_(w), context_(context), traced_on_(traced_on), files_(files), out_(out) {}

    void run() {
        if (!has_timed_kernels())
            return;
        if (w_.kernel_times == TracedTimes::kAsTraced)
            return note_as_traced({});
        TracedGpus traced(context_.file(), traced_on_);
        const RankGpus gpus(context_.system());
        std::map<std::string, TracedGpu> sources;
        for (std::uint32_t rank = 0; rank < out_.graph.ranks.size(); ++rank) {
            if (out_.graph.ranks[rank]->operations.empty())
                continue;
            const StatedGpu stated = stated_gpu(files_, rank);
            const std::string key = fmt::format("{}/{}/{}", stated.name, stated.sms, stated.memory);
            auto source = sources.find(key);
            if (source == sources.end())
                source = sources.emplace(key, traced.of(stated)).first;
            if (!source->second.known)
                unknown_.insert(stated.name);
            rescale(rank, key, source->second, gpus);
        }
        refuse_unknown();
        Rescaled every;
        for (const auto& [names, all] : rescaled_) {
            out_.report.notes.push_back(note_of(all, names.first, names.second) + left_open());
            every.here += all.here;
            every.least += all.least;
            every.most += all.most;
        }
        if (every.here > 0)
            out_.kernels_between = {every.least / every.here, every.most / every.here};
        if (rescaled_.empty())
            note_as_traced(lacks_.empty() ? std::string() : ": " + lacks_);
    }

private:
    /// Of the others nothing was taken where the trace was recorded.
    static const KernelOperation* timed_kernel(const Operation& operation) {
        const auto* const kernel = std::get_if<KernelOperation>(&operation.body);
        return kernel && kernel->duration_source != DurationSource::kCounts ? kernel : nullptr;
    }
    [[nodiscard]] bool has_timed_kernels() const {
        for (const auto& rank : out_.graph.ranks)
            for (const Operation& operation : rank->operations)
                if (timed_kernel(operation) != nullptr)
                    return true;
        return false;
    }

    void rescale(
        std::uint32_t rank, const std::string& source, const TracedGpu& traced,
        const RankGpus& gpus) {
        const GpuParams& from = traced.gpu;
        const GpuParams& to = gpus.of(rank);
        const auto key = std::pair(source, gpus.kind(rank));
        const auto [rescaler, fresh] = rescalers_.try_emplace(key, gpu_rates(from), gpu_rates(to));
        static_cast<void>(fresh);
        if (rescaler->second.same())
            return;
        for (const GpuParams* gpu : {&from, &to})
            if (const std::string lacks = why_no_kernel_times(*gpu); !lacks.empty()) {
                lacks_ = lacks;
                return;
            }
        const std::shared_ptr<const RankGraph> before = out_.graph.ranks[rank];
        std::shared_ptr<const RankGraph>& after = changed_[{before.get(), key.first, key.second}];
        if (!after) {
            kept_.push_back(before);
            after = rescaled(
                *before, rescaler->second, gpu_rates(to), rescaled_[{name_of(traced), to.name}]);
        }
        out_.graph.ranks[rank] = after;
    }

    static std::shared_ptr<const RankGraph>
    rescaled(const RankGraph& before, KernelRescaler& rescaler, const GpuRates& to, Rescaled& all) {
        auto after = std::make_shared<RankGraph>(before);
        for (Operation& operation : after->operations)
            if (timed_kernel(operation) != nullptr) {
                auto* const kernel = std::get_if<KernelOperation>(&operation.body);
                const RescaledTime time = rescaler(*kernel);
                all.add(*kernel, time);
                kernel->isolated = time.isolated;
                if (kernel->l2_share >= 0)
                    find_in_l2(*kernel, to);
            }
        return after;
    }

    static std::string name_of(const TracedGpu& traced) {
        return traced.known ? traced.gpu.name
                            : traced.gpu.name + ", which stands for the traced GPU";
    }

    void refuse_unknown() const {
        if (unknown_.empty() || w_.traced_on || w_.kernel_times != TracedTimes::kRescaled)
            return;
        const std::string& name = *unknown_.begin();
        context_.fail(
            "/workload/kernel_times",
            fmt::format(
                "is rescaled, and {}; expected traced_on, the machine that it was recorded on, or "
                "as_traced",
                name.empty() ? "the trace does not say on which GPU it was recorded"
                             : "no description of the traced GPU, " + name + ", is known"));
    }

    /// What times as traced mean on a GPU that is, or may be, another.
    void note_as_traced(const std::string& why) {
        const std::string& traced = out_.graph.provenance.gpu_name;
        const std::string& simulated = context_.system().gpu->name;
        if (why.empty() && (traced.empty() || gpu_model(traced) == gpu_model(simulated))) {
            out_.kernels_as_traced = !traced.empty();
            return;
        }
        out_.report.notes.push_back(fmt::format(
            "the trace was recorded on {}: kernels alone take as long as there, on {} too{}{}",
            traced.empty() ? traced_on_.gpu->name : traced, simulated, why, left_open()));
    }

    /// What else depends on the traced machine.
    [[nodiscard]] std::string left_open() const {
        const std::string& traced = out_.graph.provenance.gpu_name;
        if (w_.traced_on || traced.empty() || gpu_model(traced) == gpu_model(traced_on_.gpu->name))
            return {};
        return "; sizes and late ranks that it leaves open are those of this machine unless "
               "/workload/traced_on names the traced machine";
    }

    const TraceWorkloadParams& w_;
    const WorkloadContext& context_;
    const SystemParams& traced_on_;
    const std::vector<TraceFileReport>& files_;
    PreparedWorkload& out_;
    std::map<std::pair<std::string, std::uint32_t>, KernelRescaler> rescalers_;
    std::map<
        std::tuple<const RankGraph*, std::string, std::uint32_t>, std::shared_ptr<const RankGraph>>
        changed_;
    std::vector<std::shared_ptr<const RankGraph>> kept_;  ///< their addresses are keys
    std::map<std::pair<std::string, std::string>, Rescaled> rescaled_;  ///< by names of both GPUs
    std::set<std::string> unknown_;
    std::string lacks_;
};

}  // namespace

void set_traced_kernels(
    const TraceWorkloadParams& w, const WorkloadContext& context, const SystemParams& traced_on,
    const std::vector<TraceFileReport>& files, PreparedWorkload& out) {
    KernelSetter(w, context, traced_on, files, out).run();
}

}  // namespace switchfold
