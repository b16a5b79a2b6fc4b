// SPDX-License-Identifier: Apache-2.0
#include "validation/low_sm/low_sm_rows.h"

#include "sim/core/text.h"
#include "validation/harness/csv_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace switchfold::validation {

namespace {

const std::set<std::string, std::less<>> kLowSmKinds{"symmetric_memory", "copy_engine"};

class LowSmReader {
public:
    LowSmReader(
        const CsvTable& table, const std::string& label, std::vector<Unmatched>* unread = nullptr) :
        table_(table), numbers_(label, unread) {}

    std::vector<LowSmRow> run(std::size_t& others) {
        for (const char* column :
             {"id", "kind", "operation", "gpu", "n_gpus", "kernel", "size_bytes", "time_us"})
            if (!table_.has(column))
                numbers_.fail_header(fmt::format(
                    "names no column {}; expected id, kind, operation, gpu, n_gpus, kernel, "
                    "size_bytes, time_us",
                    column));
        std::vector<LowSmRow> rows;
        numbers_.throw_if_failed();
        for (const CsvRecord& record : table_.records) {
            if (!kLowSmKinds.contains(record["kind"])) {
                ++others;
                continue;
            }
            rows.push_back(row(record));
            if (!numbers_.end_row(record))
                rows.pop_back();
        }
        numbers_.throw_if_failed();
        return rows;
    }

private:
    template <class T>
    T number(const CsvRecord& record, std::string_view column, T least, bool may_be_empty) {
        const std::string expected = fmt::format("a number from {}", least);
        return (may_be_empty ? numbers_.read<T>(record, column, least, expected)
                             : numbers_.needed<T>(record, column, least, expected))
            .value_or(T{});
    }
    template <class T, std::size_t N>
    T word(
        const CsvRecord& record,
        std::string_view column,
        const std::array<T, N>& known,
        T without) {
        const std::string& text = record[column];
        if (text.empty())
            return without;
        for (const T value : known)
            if (to_string(value) == text)
                return value;
        numbers_.fail(
            record, column, fmt::format("one that is simulated, as {}", to_string(without)));
        return without;
    }

    LowSmRow row(const CsvRecord& record) {
        constexpr double kLeast = 1e-3;
        constexpr std::array kTypes{
            Datatype::kBfloat16, Datatype::kFloat16, Datatype::kFloat32, Datatype::kInt8};
        LowSmRow r;
        r.table = record["id"];
        r.gpu = record["gpu"];
        r.gpus = number<std::uint32_t>(record, "n_gpus", 2, false);
        r.nodes = std::max(1U, number<std::uint32_t>(record, "n_nodes", 0, true));
        r.interconnect = record["interconnect"];
        r.kernel = record["kernel"];
        r.kind = word(record, "operation", kCollectiveKinds, CollectiveKind::kAllReduce);
        r.datatype = word(record, "dtype", kTypes, Datatype::kBfloat16);
        r.bytes = number<std::uint64_t>(record, "size_bytes", 1, false);
        r.blocks = number<std::uint32_t>(record, "blocks", 0, true);
        r.microseconds = number<double>(record, "time_us", kLeast, false);
        return r;
    }

    const CsvTable& table_;
    CsvNumbers numbers_;
};

CollectivePolicy symmetric(Algorithm algorithm, Protocol protocol, std::uint32_t blocks) {
    CollectivePolicy policy;
    policy.kernels = Kernels::kSymmetric;
    policy.algorithm = algorithm;
    policy.protocol = protocol;
    policy.channels = blocks;
    return policy;
}

}  // namespace

std::vector<LowSmRow>
parse_low_sm_rows(std::string_view text, const std::string& label, std::size_t& others) {
    const CsvTable table = parse_csv(text, label);
    return LowSmReader(table, label).run(others);
}

std::vector<LowSmRow> read_low_sm_rows(
    const std::filesystem::path& path, std::size_t& others, std::vector<Unmatched>* unread) {
    const CsvTable table = read_csv(path);
    return LowSmReader(table, path.string(), unread).run(others);
}

LowSmKernel kernel_of(const LowSmRow& row) {
    const std::string_view kernel = row.kernel;
    // PyTorch's symmetric-memory kernels use at most 24 blocks (CUDASymmetricMemoryOps.cu).
    constexpr std::uint32_t kBlocksOfTorch = 24;
    // NCCL's own limit; the row does not state which of the tried numbers was best.
    constexpr std::uint32_t kMostOfNccl = 64;
    LowSmKernel found;
    if (contains(kernel, "TmaLD")) {
        found.why_not = "the variant that moves data by TMA is not modelled";
    } else if (contains(kernel, "gather to one")) {
        found.why_not = "the source does not say how a gather to one GPU becomes an all-gather";
    } else if (contains(kernel, "_LD") || contains(kernel, "best of those tried")) {
        found.policy = symmetric(
            Algorithm::kDirect, Protocol::kSimple, row.blocks != 0 ? row.blocks : kMostOfNccl);
    } else if (contains(kernel, "NCCL symmetric")) {
        found.policy = symmetric(Algorithm::kAuto, Protocol::kAuto, row.blocks);
    } else if (contains(kernel, "multimem") || contains(kernel, "multicast, symmetric memory")) {
        found.policy = symmetric(Algorithm::kInSwitch, Protocol::kSimple, row.blocks);
    } else if (contains(kernel, "torch symmetric memory two-shot")) {
        found.policy = symmetric(Algorithm::kDirect, Protocol::kSimple, kBlocksOfTorch);
    } else if (contains(kernel, "scatter by stores")) {
        found.policy = symmetric(Algorithm::kDirect, Protocol::kSimple, row.blocks);
    } else if (contains(kernel, "copy engine")) {
        found.policy.kernels = Kernels::kCopyEngine;
    } else if (!contains(kernel, "NCCL")) {
        found.why_not = fmt::format("the kernel \"{}\" is not modelled", kernel);
    }
    return found;
}

}  // namespace switchfold::validation
