// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/traffic.h"

#include "core/big_sort.h"
#include "workloads/profile/classify.h"
#include "workloads/profile/kernel_shapes.h"
#include "workloads/profile/kernel_traffic.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

// Share of reads in the default bytes: most element-wise and matrix kernels have two inputs per
// output.
constexpr double kDefaultReadShare = 2.0 / 3.0;

Bytes whole(double bytes) {
    return Bytes(static_cast<std::uint64_t>(std::max(0.0, bytes)));
}

void set_default(KernelOperation& kernel, double most) {
    const double bytes = most * default_bandwidth_share(kernel.kernel_class);
    kernel.bytes_read = whole(bytes * kDefaultReadShare);
    kernel.bytes_written = whole(bytes * (1 - kDefaultReadShare));
    kernel.byte_source = ByteSource::kClassDefault;
}

void set_known(KernelOperation& kernel, const Traffic& traffic, double share, double most) {
    const double bytes = (traffic.read + traffic.written) * share;
    const double fits = bytes > most ? most / bytes : 1;
    kernel.bytes_read = whole(traffic.read * share * fits);
    kernel.bytes_written = whole(traffic.written * share * fits);
    kernel.flops = traffic.flops * share;
    kernel.byte_source = ByteSource::kShapes;
}

/// Traffic of operators, computed once for all calls with the same tensors.
class KnownTraffic {
public:
    explicit KnownTraffic(const RawTrace& raw) : raw_(raw) {}
    std::optional<Traffic> of(const RawGpuEvent& gpu, KernelClass kernel_class) {
        if (gpu.op == RawGpuEvent::kNone || raw_.operator_kinds[gpu.op].input_dims == 0)
            return std::nullopt;
        const auto [at, fresh] = known_.try_emplace({gpu.op, kernel_class});
        if (fresh) {
            const OperatorKind& op = raw_.operator_kinds[gpu.op];
            at->second = traffic_of(
                raw_.texts[op.name],
                parse_shapes(raw_.texts[op.input_dims], raw_.texts[op.input_types]), kernel_class,
                op.stride);
        }
        return at->second;
    }

private:
    const RawTrace& raw_;
    std::map<std::pair<std::uint32_t, KernelClass>, std::optional<Traffic>> known_;
};

/// Shapes of products and attention, computed once for all runs of a kernel in such a call.
class KnownShapes {
public:
    explicit KnownShapes(const RawTrace& raw) : raw_(raw) {}
    KernelShape of(const RawGpuEvent& gpu, KernelClass kernel_class) {
        const bool has_shape =
            kernel_class == KernelClass::kGemmConv || kernel_class == KernelClass::kAttention;
        if (!has_shape || gpu.op == RawGpuEvent::kNone ||
            raw_.operator_kinds[gpu.op].input_dims == 0)
            return {};
        const auto [at, fresh] = known_.try_emplace({gpu.op, gpu.task});
        if (fresh) {
            const OperatorKind& op = raw_.operator_kinds[gpu.op];
            at->second = shape_of(
                             raw_.texts[op.name],
                             parse_shapes(raw_.texts[op.input_dims], raw_.texts[op.input_types]),
                             raw_.name_of(gpu), op.stride)
                             .value_or(KernelShape{});
        }
        return at->second;
    }

private:
    const RawTrace& raw_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, KernelShape> known_;
};

/// Total isolated duration of the kernels of one class that one operator call launched: they share
/// the call's bytes.
class SharedTime {
public:
    void add(const RawGpuEvent& gpu, const KernelOperation& kernel) {
        if (gpu.call != RawGpuEvent::kNone)
            times_.push_back({key(gpu, kernel), kernel.isolated.count()});
    }
    /// Call after the last add().
    void sum_up() {
        big_sort(times_, [](const Sum& a, const Sum& b) { return a.key < b.key; });
        std::size_t sums = 0;
        for (const Sum& time : times_.pass()) {
            if (sums > 0 && times_[sums - 1].key == time.key)
                times_[sums - 1].ps += time.ps;
            else
                times_[sums++] = time;
        }
        times_.shrink(sums);
    }
    /// Total (ps) of all kernels of the same call and class as this one.
    [[nodiscard]] std::uint64_t
    of(std::size_t asked, const RawGpuEvent& gpu, const KernelOperation& kernel) const {
        times_.forget_at(asked);
        const auto found = std::lower_bound(
            times_.begin(), times_.end(), key(gpu, kernel),
            [](const Sum& s, std::uint64_t k) { return s.key < k; });
        return found == times_.end() || found->key != key(gpu, kernel) ? 0 : found->ps;
    }

private:
    struct Sum {
        std::uint64_t key = 0;
        std::uint64_t ps = 0;
    };
    static std::uint64_t key(const RawGpuEvent& gpu, const KernelOperation& kernel) {
        constexpr std::uint64_t kClasses = 16;
        return gpu.call * kClasses + static_cast<std::uint64_t>(kernel.kernel_class);
    }
    BigVector<Sum> times_;
};

}  // namespace

void set_traffic(
    const RawTrace& raw, RankGraph& graph, const BigVector<std::uint32_t>& operation_of,
    double peak) {
    const auto kernel_of = [&](std::size_t i) {
        raw.gpu.forget_at(i);
        operation_of.forget_at(i);
        graph.operations.forget_at(i);
        return raw.gpu[i].work == GpuWork::kKernel
                   ? std::get_if<KernelOperation>(&graph.operations[operation_of[i]].body)
                   : nullptr;
    };
    SharedTime shared;
    for (std::size_t i = 0; i < raw.gpu.size(); ++i)
        if (const KernelOperation* kernel = kernel_of(i))
            shared.add(raw.gpu[i], *kernel);
    shared.sum_up();
    KnownTraffic known(raw);
    KnownShapes shapes(raw);
    for (std::size_t i = 0; i < raw.gpu.size(); ++i) {
        KernelOperation* kernel = kernel_of(i);
        if (kernel == nullptr)
            continue;
        const RawGpuEvent& gpu = raw.gpu[i];
        kernel->shape = shapes.of(gpu, kernel->kernel_class);
        if (gpu.details != RawGpuEvent::kNone) {
            const CountedTraffic& counted = raw.counted[gpu.details];
            kernel->bytes_read = Bytes(counted.read);
            kernel->bytes_written = Bytes(counted.written);
            kernel->byte_source = ByteSource::kCounters;
            continue;
        }
        const double most = peak * to_seconds(kernel->isolated);
        const std::optional<Traffic> traffic = known.of(gpu, kernel->kernel_class);
        const std::uint64_t all = traffic ? shared.of(i, gpu, *kernel) : 0;
        if (all > 0)
            set_known(
                *kernel, *traffic,
                static_cast<double>(kernel->isolated.count()) / static_cast<double>(all), most);
        else
            set_default(*kernel, most);
    }
}

}  // namespace switchfold
