// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/events/events.h"

#include "core/big_sort.h"
#include "core/error.h"
#include "core/text.h"
#include "workloads/capture/events/counted_bytes.h"
#include "workloads/profile/call_transfers.h"
#include "workloads/profile/classify.h"
#include "workloads/readers/nvtx/range.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>

#include <cxxabi.h>

namespace switchfold::capture {

namespace {

constexpr std::uint64_t kPsPerNs = 1000;
constexpr std::uint64_t kMostRanks = 1U << 20U;
constexpr std::uint64_t kMostElements = 1ULL << 48U;
constexpr std::uint64_t kMostNs = 200ULL * 24 * 3600 * 1'000'000'000;

std::string demangled(const std::string& name) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
    return status == 0 ? std::string(text.get()) : name;
}

/// "cudaLaunchKernel_v7000" -> "cudaLaunchKernel": CUPTI's names include a version.
std::string_view without_version(std::string_view name) {
    const std::size_t mark = name.rfind("_v");
    const bool numbered = mark != std::string_view::npos &&
                          name.find_first_not_of("0123456789", mark + 2) == std::string_view::npos;
    return numbered ? name.substr(0, mark) : name;
}

const char* copy_name(CopyDirection direction) {
    switch (direction) {
    case CopyDirection::kHostToDevice:
        return "Memcpy HtoD";
    case CopyDirection::kDeviceToHost:
        return "Memcpy DtoH";
    case CopyDirection::kPeer:
        return "Memcpy PtoP";
    case CopyDirection::kMemset:
        return "Memset";
    case CopyDirection::kDeviceToDevice:
    case CopyDirection::kOther:
        break;
    }
    return "Memcpy DtoD";
}

std::optional<Dim3> shape(const std::array<std::uint32_t, 3>& values) {
    return launch_shape({values[0], values[1], values[2]});
}

class Events {
public:
    Events(
        const CaptureFile& capture, const CaptureFile* counters,
        const CommunicatorRanks& communicators, const std::function<void(TraceEvent&)>& add) :
        capture_(capture), communicators_(communicators), add_(add), base_(first_time()) {
        if (counters != nullptr)
            bytes_.emplace(*counters);
    }

    EventsReport run() {
        report_.warnings = losses(capture_);
        add_calls(true);
        add_calls(false);  // a runtime call represents the driver call inside it
        add_ranges();
        add_kernels();
        for (const Copy& copy : capture_.copies.pass())
            add_copy(copy);
        count_unused();
        return std::move(report_);
    }

private:
    [[nodiscard]] std::uint64_t first_time() const {
        std::uint64_t first = capture_.session.clock_ns;
        const auto look = [&first](const auto& records) {
            for (const auto& record : records.pass())
                first = std::min(first, record.start);
        };
        look(capture_.kernels);
        look(capture_.copies);
        look(capture_.calls);
        look(capture_.ranges);
        return first;
    }

    template <class R>
    TraceEvent timed(const R& record) {
        if (record.end - base_ > kMostNs)
            throw ConfigError(
                capture_.path.string(), "",
                fmt::format(
                    "holds a time {} ns behind its first; expected 200 days at most",
                    record.end - base_));
        TraceEvent event;
        event.phase = "X";
        event.start = (record.start - base_) * kPsPerNs;
        event.duration = (record.end - record.start) * kPsPerNs;
        return event;
    }

    template <class R>
    TraceEvent gpu_work(const R& record, const char* category) {
        TraceEvent event = timed(record);
        event.category = category;
        event.correlation = record.correlation;
        event.device = record.device;
        event.stream = std::to_string(record.stream);
        return event;
    }

    void add_calls(bool driver) {
        for (const Call& call : capture_.calls.pass()) {
            if (call.driver != driver)
                continue;
            TraceEvent event = timed(call);
            event.category = driver ? "cuda_driver" : "cuda_runtime";
            event.name = std::string(without_version(capture_.name(call.name)));
            event.thread = std::to_string(call.thread);
            event.correlation = call.correlation;
            add_(event);
        }
    }

    void add_ranges() {
        for (const Range& range : capture_.ranges.pass()) {
            TraceEvent event = timed(range);
            event.thread = std::to_string(range.thread);
            describe_range(capture_.name(range.name), {}, event);
            add_(event);
        }
    }

    void add_kernels() {
        const NcclLaunches nccl = match_nccl_calls(capture_);
        // CUPTI delivers kernels in order of completion; correlations follow launch order.
        struct Launched {
            std::uint32_t correlation;
            std::uint32_t kernel;
        };
        BigVector<Launched> order;
        for (const Kernel& kernel : capture_.kernels.pass())
            order.push_back({kernel.correlation, static_cast<std::uint32_t>(order.size())});
        big_sort(order, [](const Launched& a, const Launched& b) {
            return a.correlation < b.correlation;
        });
        BigVector<Kernel>::Skipping skipping(capture_.kernels);
        for (const Launched& launched : order.pass()) {
            skipping.at(launched.kernel);
            const auto calls = nccl.calls.find(launched.kernel);
            if (calls == nccl.calls.end())
                add_kernel(capture_.kernels[launched.kernel], {}, {});
            else
                add_kernel(
                    capture_.kernels[launched.kernel], calls->second,
                    nccl.launches.at(launched.kernel));
        }
        if (nccl.kernels_without_calls != 0)
            report_.warnings.push_back(fmt::format(
                "{} communication kernels have no call of NCCL in the capture (no profiler "
                "plugin, or a CUDA graph): their sizes are estimated",
                nccl.kernels_without_calls));
        if (nccl.calls_without_kernel != 0)
            report_.dropped[kCallsWithoutKernel] += nccl.calls_without_kernel;
    }

    void add_kernel(
        const Kernel& kernel, const std::vector<const NcclCall*>& calls,
        const NcclLaunches::Launch& launch) {
        TraceEvent event = gpu_work(kernel, "kernel");
        const std::string name(capture_.name(kernel.name));
        event.name = demangled(name);
        event.grid = shape(kernel.grid);
        event.block = shape(kernel.block);
        event.registers_per_thread = kernel.registers_per_thread;
        event.shared_memory = std::uint64_t{kernel.static_shared} + kernel.dynamic_shared;
        if (bytes_)
            if (const auto bytes = bytes_->next(name, kernel)) {
                event.counted_read = bytes->read;
                event.counted_written = bytes->written;
            }
        if (!calls.empty() && is_transfer(*calls.front()))
            describe_transfers(calls, launch, event);
        else if (!calls.empty())
            describe_collective(calls, event);
        add_(event);
    }

    static bool is_transfer(const NcclCall& call) {
        return call.function == "Send" || call.function == "Recv";
    }

    /// The sends and receives of one kernel: an exchange of all with all, or a batch of messages.
    /// Without their peers it is known only that they are sends and receives.
    void describe_transfers(
        const std::vector<const NcclCall*>& calls, const NcclLaunches::Launch& launch,
        TraceEvent& event) {
        const NcclCall& first = *calls.front();
        const std::uint64_t ranks = set_group(first, event);
        event.collective_name = first.function;
        event.datatype = first.datatype;
        event.in_elements = event.out_elements = first.count;
        const std::vector<std::uint32_t> members = members_of(first, ranks);
        std::vector<CallTransfer> transfers;
        for (const NcclCall* call : calls) {
            const auto type = parse_datatype(call->datatype);
            if (!is_transfer(*call) || call->communicator != first.communicator || !type ||
                call->root_or_peer >= members.size() || call->count >= kMostElements)
                return;
            transfers.push_back(
                {call->function == "Send", call->root_or_peer,
                 call->count * size_of(*type).count()});
        }
        if (describe_exchange(transfers, ranks, event))
            return;
        // As c10d's batches: messages, and the call that launches them.
        TraceEvent call = event;
        call.category = "user_annotation";
        call.thread = std::to_string(launch.thread);
        call.correlation.reset();
        call.start = (launch.start - base_) * kPsPerNs;
        call.start -= call.start > 0 ? 1 : 0;
        call.duration = 0;
        for (const CallTransfer& transfer : transfers) {
            describe_message(transfer, members[transfer.peer], call);
            add_made(call);
        }
        call.duration = (launch.end - base_) * kPsPerNs - call.start;
        call.collective_name.clear();
        describe_batch(call);
        add_made(call);
        event.collective_name.clear();
    }

    void add_made(TraceEvent& event) {
        add_(event);
        ++report_.made;
    }

    /// Ranks of a communicator, as its group's: those that tell of it, or the block of so many in
    /// which this rank has its place. Empty if it has another place.
    [[nodiscard]] std::vector<std::uint32_t>
    members_of(const NcclCall& call, std::uint64_t ranks) const {
        if (const auto known = communicators_.find(call.communicator);
            known != communicators_.end())
            return known->second;
        const std::uint32_t own = capture_.session.rank;
        const auto told = std::find_if(
            capture_.communicators.begin(), capture_.communicators.end(),
            [&](const Communicator& one) { return one.hash == call.communicator; });
        if (told == capture_.communicators.end() || ranks == 0 || ranks > kMostRanks ||
            told->rank != own % ranks)
            return {};
        std::vector<std::uint32_t> block(ranks);
        std::iota(block.begin(), block.end(), static_cast<std::uint32_t>(own - own % ranks));
        return block;
    }

    /// NCCL reports the elements of one rank's smaller buffer; readers expect those of the input.
    void describe_collective(const std::vector<const NcclCall*>& calls, TraceEvent& event) {
        const NcclCall& first = *calls.front();
        const std::uint64_t ranks = set_group(first, event);
        std::uint64_t count = 0;
        for (const NcclCall* call : calls)
            if (!is_transfer(*call))
                count += call->count;
        event.collective_name = first.function;
        event.datatype = first.datatype;
        event.in_elements = first.function == "ReduceScatter" ? count * ranks : count;
        event.out_elements = first.function == "AllGather" ? count * ranks : count;
        // NCCL's "RING" becomes the graph's "ring".
        event.algorithm = lower(first.algorithm);
        event.protocol = lower(first.protocol);
    }

    /// \returns the group's number of ranks.
    std::uint64_t set_group(const NcclCall& call, TraceEvent& event) {
        const auto known = std::find_if(
            capture_.communicators.begin(), capture_.communicators.end(),
            [&](const Communicator& communicator) {
                return communicator.hash == call.communicator;
            });
        const bool named = known != capture_.communicators.end() && !known->name.empty();
        event.group_name =
            named ? known->name : fmt::format("communicator {:x}", call.communicator);
        const auto ranks = communicators_.find(call.communicator);
        if (ranks != communicators_.end()) {
            event.group_ranks = fmt::format("[{}]", fmt::join(ranks->second, ", "));
            event.group_size = ranks->second.size();
        } else if (known != capture_.communicators.end() && known->ranks != 0) {
            event.group_size = known->ranks;
        } else {
            event.group_size = capture_.session.world_size;
        }
        return event.group_size;
    }

    void add_copy(const Copy& copy) {
        const bool memset = copy.direction == CopyDirection::kMemset;
        TraceEvent event = gpu_work(copy, memset ? "gpu_memset" : "gpu_memcpy");
        event.name = copy_name(copy.direction);
        event.bytes = copy.bytes;
        add_(event);
    }

    void count_unused() {
        const auto drop = [this](const char* what, std::uint64_t count) {
            if (count != 0)
                report_.dropped[what] += count;
        };
        drop("synchronisation records (their calls are used)", capture_.synchronizations.size());
        drop("recorded events (their calls are used)", capture_.event_records.size());
        drop("external correlations (NVTX ranges are used)", capture_.external.size());
    }

    const CaptureFile& capture_;
    const CommunicatorRanks& communicators_;
    const std::function<void(TraceEvent&)>& add_;
    std::uint64_t base_;
    std::optional<CountedBytes> bytes_;
    EventsReport report_;
};

}  // namespace

EventsReport add_events(
    const CaptureFile& capture, const CaptureFile* counters, const CommunicatorRanks& communicators,
    const std::function<void(TraceEvent&)>& add) {
    return Events(capture, counters, communicators, add).run();
}

}  // namespace switchfold::capture
