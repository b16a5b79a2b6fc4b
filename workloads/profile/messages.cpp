// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/messages.h"

#include "core/text.h"
#include "workloads/profile/classify.h"
#include "workloads/profile/collective_operation.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

/// The two numbers of "send 0->1" and "recv 1<-0": own rank and peer, in the group.
std::optional<std::uint32_t> peer_in_name(std::string_view call) {
    const std::size_t arrow = std::min(call.find("->"), call.find("<-"));
    if (arrow == std::string_view::npos)
        return std::nullopt;
    std::uint32_t peer = 0;
    const std::string_view rest = call.substr(arrow + 2);
    const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), peer);
    return code == std::errc{} ? std::optional(peer) : std::nullopt;
}

/// Collective that a batch's kernel is named after; sends and receives have a name for all.
std::optional<CollectiveKind> batched_kind(const RawTrace& raw, const RawGpuEvent& gpu) {
    const auto kind = classify_collective("", raw.name_of(gpu));
    return kind == CollectiveKind::kAllToAll ? std::nullopt : kind;
}

class MessageFinder {
public:
    MessageFinder(RawTrace& raw, const BigVector<CpuOperator>& operators) :
        raw_(raw), operators_(operators) {}

    void run() {
        for (std::size_t i = 0; i < raw_.gpu.size(); ++i) {
            raw_.gpu.forget_at(i);
            const RawGpuEvent& gpu = raw_.gpu[i];
            if (gpu.work != GpuWork::kCommunication)
                continue;
            if (gpu.has_launch)
                launches_.emplace_back(gpu.launch_thread, gpu.launch);
            look_at(static_cast<std::uint32_t>(i));
        }
        std::sort(launches_.begin(), launches_.end());
        find_batches();
    }

private:
    struct Item {
        std::uint32_t thread = 0;
        std::uint64_t time = 0;
        bool is_kernel = false;
        std::uint32_t index = 0;  ///< of the GPU event, or of the operator
    };

    [[nodiscard]] Bytes
    bytes_of(StringInterner::Id datatype, std::uint64_t in, std::uint64_t out) const {
        const auto width = element_width(raw_.texts[datatype]);
        const std::uint64_t elements = in > 0 ? in : out;
        return width && elements < (1ULL << 48U) ? width->bytes(elements) : Bytes();
    }

    /// A kernel with a call of its own; others may be of a batch.
    void look_at(std::uint32_t index) {
        RawGpuEvent& gpu = raw_.gpu[index];
        CollectiveDetails& details = raw_.collectives[gpu.details];
        const StringInterner::Id name = details.name != 0 ? details.name : details.call;
        const Transfer transfer = transfer_of(raw_.texts[name]);
        if (transfer == Transfer::kNone) {
            if (gpu.has_launch && is_batch(raw_, details))
                items_.push_back({gpu.launch_thread, gpu.launch, true, index});
            return;
        }
        std::uint32_t peer = transfer == Transfer::kSend ? details.to_rank : details.from_rank;
        if (peer == kNoRank)
            if (const auto in_group = peer_in_name(raw_.texts[details.call])) {
                const std::vector<std::uint32_t> members = group_ranks(raw_, details);
                if (*in_group < members.size())
                    peer = members[*in_group];
            }
        Bytes bytes = bytes_of(details.datatype, details.in_elements, details.out_elements);
        if (bytes == Bytes())
            bytes = tensor_bytes(raw_, details);
        if (peer == kNoRank || bytes == Bytes())
            return;
        details.first_message = static_cast<std::uint32_t>(raw_.messages.size());
        details.messages = 1;
        raw_.messages.push_back({peer, transfer == Transfer::kSend, bytes});
    }

    [[nodiscard]] bool may_be_of_batch(StringInterner::Id call) const {
        return transfer_of(raw_.texts[call]) != Transfer::kNone ||
               classify_collective(raw_.texts[call], "").has_value();
    }

    /// Calls that launch nothing themselves, each with the kernels that follow.
    void find_batches() {
        if (items_.empty())
            return;
        for (std::uint32_t i = 0; i < operators_.size(); ++i) {
            operators_.forget_at(i);
            const CpuOperator& op = operators_[i];
            const std::uint32_t communication = raw_.operator_kinds[op.kind].communication;
            if (communication != 0 && may_be_of_batch(raw_.calls[communication - 1].name) &&
                !launches(op))
                items_.push_back({op.thread, op.start, false, i});
        }
        std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
            return std::tie(a.thread, a.time, a.is_kernel) <
                   std::tie(b.thread, b.time, b.is_kernel);
        });
        std::vector<std::uint32_t> calls;
        std::vector<std::uint32_t> kernels;
        std::uint32_t thread = 0;
        const auto end_batch = [&] {
            if (!calls.empty() && !kernels.empty())
                join(calls, kernels);
            calls.clear();
            kernels.clear();
        };
        for (const Item& item : items_) {
            if (item.thread != thread || (!item.is_kernel && !kernels.empty()))
                end_batch();
            thread = item.thread;
            (item.is_kernel ? kernels : calls).push_back(item.index);
        }
        end_batch();
    }

    /// Whether the call launched a communication kernel itself.
    [[nodiscard]] bool launches(const CpuOperator& op) const {
        const auto first =
            std::lower_bound(launches_.begin(), launches_.end(), std::pair(op.thread, op.start));
        return first != launches_.end() && first->first == op.thread && first->second <= op.end;
    }

    [[nodiscard]] const OperatorKind& kind_of(std::uint32_t op) const {
        return raw_.operator_kinds[operators_[op].kind];
    }
    [[nodiscard]] const CommunicationCall& call_of(std::uint32_t op) const {
        return raw_.calls[kind_of(op).communication - 1];
    }

    /// NCCL may run one kind under another kernel's name: the calls come first.
    void join(std::vector<std::uint32_t> calls, const std::vector<std::uint32_t>& kernels) {
        const auto kind = batched_kind(raw_, raw_.gpu[kernels.front()]);
        const bool of_kind =
            kind && std::any_of(calls.begin(), calls.end(), [&](std::uint32_t op) {
                return classify_collective(raw_.texts[call_of(op).name], "") == kind;
            });
        if (of_kind)
            return join_collectives(calls, kernels);
        std::erase_if(calls, [this](std::uint32_t op) {
            return transfer_of(raw_.texts[call_of(op).name]) == Transfer::kNone;
        });
        if (!calls.empty())
            join_messages(calls, kernels);
    }

    /// One collective that is as large as those of its kind, type and group together.
    void join_collectives(
        const std::vector<std::uint32_t>& calls, const std::vector<std::uint32_t>& kernels) {
        for (const std::uint32_t kernel : kernels) {
            RawGpuEvent& gpu = raw_.gpu[kernel];
            const auto kind = batched_kind(raw_, gpu);
            CollectiveDetails joined = raw_.collectives[gpu.details];
            const OperatorKind* group = nullptr;
            for (const std::uint32_t op : calls) {
                const CommunicationCall& call = call_of(op);
                if (classify_collective(raw_.texts[call.name], "") != kind)
                    continue;
                const OperatorKind& here = kind_of(op);
                if (group != nullptr &&
                    (call.datatype != joined.datatype || here.group_name != group->group_name ||
                     here.group_ranks != group->group_ranks))
                    return;  // their sizes do not add up
                if (group == nullptr) {
                    group = &here;
                    gpu.issuer = op;
                }
                joined.name = call.name;
                joined.datatype = call.datatype;
                joined.in_elements += call.in_elements;
                joined.out_elements += call.out_elements;
            }
            if (group == nullptr)
                continue;
            joined.group_name = group->group_name;
            joined.group_ranks = group->group_ranks;
            joined.group_size = group->group_size;
            raw_.collectives[gpu.details] = joined;
        }
    }

    void join_messages(
        const std::vector<std::uint32_t>& calls, const std::vector<std::uint32_t>& kernels) {
        const auto first = static_cast<std::uint32_t>(raw_.messages.size());
        for (const std::uint32_t op : calls) {
            const CommunicationCall& call = call_of(op);
            const bool sends = transfer_of(raw_.texts[call.name]) == Transfer::kSend;
            const std::uint32_t peer = sends ? call.to_rank : call.from_rank;
            const Bytes bytes = bytes_of(call.datatype, call.in_elements, call.out_elements);
            if (peer == kNoRank || bytes == Bytes()) {
                raw_.messages.resize(first);
                return;
            }
            raw_.messages.push_back({peer, sends, bytes});
        }
        const OperatorKind& kind = kind_of(calls.front());
        for (const std::uint32_t kernel : kernels) {
            RawGpuEvent& gpu = raw_.gpu[kernel];
            gpu.issuer = calls.front();  // one call: join_kernels_of_calls() takes them together
            CollectiveDetails& details = raw_.collectives[gpu.details];
            details.group_name = kind.group_name;
            details.group_ranks = kind.group_ranks;
            details.group_size = kind.group_size;
            details.first_message = first;
            details.messages = static_cast<std::uint32_t>(raw_.messages.size()) - first;
        }
    }

    RawTrace& raw_;
    const BigVector<CpuOperator>& operators_;
    std::vector<Item> items_;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> launches_;  ///< thread and time
};

}  // namespace

Transfer transfer_of(std::string_view call) {
    // NCCL's own names stand for any exchange: all-to-alls are groups of ncclSend and ncclRecv.
    if (call.starts_with("ncclSend") || call.starts_with("ncclRecv"))
        return Transfer::kNone;
    const std::string text = lower(call);
    const bool sends = text.find("send") != std::string::npos;
    const bool receives = text.find("recv") != std::string::npos;
    if (sends == receives)  // "sendrecv" may be either, or an exchange
        return Transfer::kNone;
    return sends ? Transfer::kSend : Transfer::kReceive;
}

bool is_batch(const RawTrace& raw, const CollectiveDetails& details) {
    return details.name == 0 && raw.texts[details.call] == "nccl:coalesced";
}

bool is_point_to_point(const RawTrace& raw, const RawGpuEvent& gpu) {
    const CollectiveDetails& details = raw.collectives[gpu.details];
    const StringInterner::Id name = details.name != 0 ? details.name : details.call;
    return details.messages > 0 || transfer_of(raw.texts[name]) != Transfer::kNone ||
           (is_batch(raw, details) && !batched_kind(raw, gpu));
}

void find_messages(RawTrace& raw, const BigVector<CpuOperator>& operators) {
    MessageFinder(raw, operators).run();
}

}  // namespace switchfold
