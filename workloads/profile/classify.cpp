// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/classify.h"

#include "sim/core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace switchfold {

namespace {

template <std::size_t N>
bool any_of(const std::string& text, const std::array<std::string_view, N>& words) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        return text.find(word) != std::string::npos;
    });
}

constexpr std::array<std::string_view, 9> kOptimizer{
    "multi_tensor",
    "adam_",
    "fused_adam",
    "adamw",
    "sgd_",
    "lamb_stage",
    "foreach",
    "adagrad",
    "optimizer"};
constexpr std::array<std::string_view, 4> kAttention{"flash", "fmha", "attention", "_attn"};
constexpr std::array<std::string_view, 12> kNorm{
    "batch_norm",
    "batchnorm",
    "layer_norm",
    "layernorm",
    "bn_fw",
    "bn_bw",
    "bnfwd",
    "bnbwd",
    "norm_",
    "groupnorm",
    "gammabeta",
    "welford"};
constexpr std::array<std::string_view, 8> kEmbedding{
    "embedding", "embs", "tbe_", "index_select", "gather", "scatter", "jagged", "sparse"};
constexpr std::array<std::string_view, 7> kLayoutInName{
    "transpose", "nchwtonhwc", "nhwctonchw", "im2col", "col2im", "convert", "copy"};
constexpr std::array<std::string_view, 19> kMatrix{
    "gemm",
    "conv",
    "wgrad",
    "dgrad",
    "fprop",
    "winograd",
    "xmma",
    "s884",
    "s1688",
    "s16816",
    "cijk_",
    "cublas",
    "gcnasm",
    "ck::",
    "miopensp3",
    "dot_kernel",
    "gemv",
    "im2col",
    "col2im"};
constexpr std::array<std::string_view, 11> kReduction{
    "reduce",
    "softmax",
    "_sum",
    "sum_",
    "norm",
    "argmax",
    "sort",
    "scan",
    "cumsum",
    "nll_loss",
    "cross_entropy"};
constexpr std::array<std::string_view, 8> kCopy{
    "copy", "transpose", "nchwtonhwc", "nhwctonchw", "permute", "cat", "fill", "memset"};
constexpr std::array<std::string_view, 13> kElementwise{
    "elementwise",
    "vectorized",
    "unrolled",
    "triton_poi",
    "pointwise",
    "dropout",
    "gelu",
    "relu",
    "pool",
    "op_tensor",
    "mul",
    "add",
    "clamp"};
constexpr std::array<std::string_view, 9> kCommunicationWords{
    "nccl",
    "rccl",
    "msccl",
    "multimem_all_reduce",
    "two_shot_all_reduce",
    "one_shot_all_reduce",
    "cross_device_reduce",
    "deep_ep",
    "ibgda"};

}  // namespace

KernelClass classify_kernel(std::string_view name) {
    const std::string text = lower(name);
    if (any_of(text, kOptimizer))
        return KernelClass::kOptimizer;
    if (any_of(text, kAttention))
        return KernelClass::kAttention;
    if (any_of(text, kNorm))
        return KernelClass::kNorm;
    if (any_of(text, kEmbedding))
        return KernelClass::kEmbeddingGather;
    if (any_of(text, kMatrix) && !any_of(text, kLayoutInName))
        return KernelClass::kGemmConv;
    if (any_of(text, kReduction))
        return KernelClass::kReduction;
    if (any_of(text, kCopy))
        return KernelClass::kCopyLayout;
    if (any_of(text, kElementwise))
        return KernelClass::kElementwise;
    return KernelClass::kOther;
}

CopyKind classify_copy(std::string_view name) {
    const auto has = [&](std::string_view word) { return contains(name, word); };
    if (has("emset"))
        return CopyKind::kMemset;
    if (has("HtoD") || has("HostToDevice"))
        return CopyKind::kHostToDevice;
    if (has("DtoH") || has("DeviceToHost"))
        return CopyKind::kDeviceToHost;
    return CopyKind::kDeviceToDevice;
}

bool is_communication(std::string_view name) {
    return any_of(lower(name), kCommunicationWords);
}

std::optional<CollectiveKind>
classify_collective(std::string_view collective, std::string_view kernel) {
    const std::string text = lower(collective) + " " + lower(kernel);
    const auto has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
    if (has("allreduce") || has("all_reduce"))
        return CollectiveKind::kAllReduce;
    if (has("reducescatter") || has("reduce_scatter"))
        return CollectiveKind::kReduceScatter;
    if (has("allgather") || has("all_gather"))
        return CollectiveKind::kAllGather;
    if (has("broadcast"))
        return CollectiveKind::kBroadcast;
    if (has("sendrecv") || has("alltoall") || has("all_to_all") || has("dispatch") ||
        has("combine"))
        return CollectiveKind::kAllToAll;
    if (has("_reduce") || has("reduce_") || has(":reduce") || text.substr(0, 7) == "reduce ")
        return CollectiveKind::kReduce;
    return std::nullopt;
}

std::optional<Datatype> parse_datatype(std::string_view name) {
    const std::string text = lower(name);
    const auto is = [&](std::string_view word) { return text.find(word) != std::string::npos; };
    if (is("bfloat16") || is("bf16"))
        return Datatype::kBfloat16;
    if (is("float8") || is("fp8"))
        return Datatype::kFloat8;
    if (is("half") || is("float16") || is("fp16"))
        return Datatype::kFloat16;
    if (is("double") || is("float64"))
        return Datatype::kFloat64;
    if (is("float"))
        return Datatype::kFloat32;
    if (is("long") || is("int64"))
        return Datatype::kInt64;
    if (is("uint8") || is("byte") || is("bool"))
        return Datatype::kUint8;
    if (is("int8") || is("char"))
        return Datatype::kInt8;
    if (is("int"))
        return Datatype::kInt32;
    return std::nullopt;
}

std::optional<Datatype> kernel_datatype(std::string_view kernel) {
    const std::string text = lower(kernel.substr(0, kernel.find('(')));
    struct Named {
        std::string_view word;
        Datatype type;
    };
    // Longer names come before names that they contain.
    constexpr std::array<Named, 19> kNamed{
        {{"bfloat16", Datatype::kBfloat16},
         {"_bf16", Datatype::kBfloat16},
         {"_half", Datatype::kFloat16},
         {"_f16", Datatype::kFloat16},
         {"_f8", Datatype::kFloat8},
         {"_float", Datatype::kFloat32},
         {"_f32", Datatype::kFloat32},
         {"_double", Datatype::kFloat64},
         {"_f64", Datatype::kFloat64},
         {"_uint8", Datatype::kUint8},
         {"_u8", Datatype::kUint8},
         {"_int8", Datatype::kInt8},
         {"_i8", Datatype::kInt8},
         {"int32", Datatype::kInt32},
         {"_u32", Datatype::kInt32},
         {"_i32", Datatype::kInt32},
         {"int64", Datatype::kInt64},
         {"_u64", Datatype::kInt64},
         {"_i64", Datatype::kInt64}}};
    for (const Named& named : kNamed)
        if (text.find(named.word) != std::string::npos)
            return named.type;
    return std::nullopt;
}

std::string_view kernel_algorithm(std::string_view kernel) {
    const std::string_view name = kernel.substr(0, kernel.find('('));
    if (contains(name, "ncclSymk"))
        return contains(name, "MC") ? "nvls" : "symmetric";
    return contains(name, "_TREE_LL") ? "tree" : "";
}

std::optional<double> peak_bandwidth(std::string_view gpu_name, std::uint64_t memory_bytes) {
    const std::string name = lower(gpu_name);
    struct Known {
        std::string_view word;
        double bytes_per_second;
    };
    // From vendors' data sheets; the A100's 40 GB and 80 GB variants differ.
    constexpr std::array<Known, 8> kKnown{
        {{"h200", 4.8e12},
         {"h100", 3.35e12},
         {"b200", 8e12},
         {"v100", 0.897e12},
         {"mi300x", 5.3e12},
         {"4090", 1.008e12},
         {"3090", 0.936e12},
         {"p100", 0.732e12}}};
    if (name.find("a100") != std::string::npos)
        return memory_bytes > 50'000'000'000ULL ? 2.039e12 : 1.555e12;
    for (const Known& known : kKnown)
        if (name.find(known.word) != std::string::npos)
            return known.bytes_per_second;
    return std::nullopt;
}

double default_bandwidth_share(KernelClass kernel_class) {
    switch (kernel_class) {
    case KernelClass::kGemmConv:
    case KernelClass::kAttention:
        return 0.35;
    case KernelClass::kNorm:
    case KernelClass::kElementwise:
    case KernelClass::kCopyLayout:
    case KernelClass::kOptimizer:
        return 0.8;
    case KernelClass::kReduction:
    case KernelClass::kEmbeddingGather:
        return 0.6;
    case KernelClass::kOther:
        break;
    }
    return 0.5;
}

}  // namespace switchfold
