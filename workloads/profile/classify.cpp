// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/classify.h"

#include "core/text.h"

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

constexpr std::array<std::string_view, 9> kOptimizer{"multi_tensor", "adam_",   "fused_adam",
                                                     "adamw",        "sgd_",    "lamb_stage",
                                                     "foreach",      "adagrad", "optimizer"};
constexpr std::array<std::string_view, 4> kAttention{"flash", "fmha", "attention", "_attn"};
constexpr std::array<std::string_view, 12> kNorm{
    "batch_norm", "batchnorm", "layer_norm", "layernorm", "bn_fw",     "bn_bw",
    "bnfwd",      "bnbwd",     "norm_",      "groupnorm", "gammabeta", "welford"};
constexpr std::array<std::string_view, 8> kEmbedding{
    "embedding", "embs", "tbe_", "index_select", "gather", "scatter", "jagged", "sparse"};
constexpr std::array<std::string_view, 7> kLayoutInName{
    "transpose", "nchwtonhwc", "nhwctonchw", "im2col", "col2im", "convert", "copy"};
constexpr std::array<std::string_view, 19> kMatrix{"gemm",   "conv",     "wgrad",     "dgrad",
                                                   "fprop",  "winograd", "xmma",      "s884",
                                                   "s1688",  "s16816",   "cijk_",     "cublas",
                                                   "gcnasm", "ck::",     "miopensp3", "dot_kernel",
                                                   "gemv",   "im2col",   "col2im"};
constexpr std::array<std::string_view, 11> kReduction{"reduce", "softmax",  "_sum",         "sum_",
                                                      "norm",   "argmax",   "sort",         "scan",
                                                      "cumsum", "nll_loss", "cross_entropy"};
constexpr std::array<std::string_view, 8> kCopy{"copy",    "transpose", "nchwtonhwc", "nhwctonchw",
                                                "permute", "cat",       "fill",       "memset"};
constexpr std::array<std::string_view, 13> kElementwise{
    "elementwise", "vectorized", "unrolled",  "triton_poi", "pointwise", "dropout", "gelu",
    "relu",        "pool",       "op_tensor", "mul",        "add",       "clamp"};
/// Words of kernels that move data between GPUs, by library: NCCL and its kin, PyTorch's symmetric
/// memory, vLLM, AITER, FlashInfer and TensorRT-LLM, quickreduce, Transformer Engine's userbuffers,
/// NVSHMEM, DeepEP and its kin.
constexpr std::array<std::string_view, 38> kCommunicationWords{
    "nccl",
    "rccl",
    "msccl",
    "multimem_all_reduce",
    "multimem_one_shot",
    "two_shot_all_reduce",
    "one_shot_all_reduce",
    "two_shot_allreduce",
    "one_shot_allreduce",
    "multimem_all_gather",
    "multimem_reduce_scatter",
    "cross_device_reduce",
    "cross_device_store",
    "aiter::allgather",
    "aiter::all_gather",
    "allreduce_fusion",
    "allreducekernel",
    "allreduce_kernel",
    "all_reduce_kernel",
    "twoshotallreduce",
    "oneshotallreduce",
    "quickreduce",
    "userbuffers",
    "nvshmem",
    "deep_ep",
    "hybrid_ep",
    "uccl::",
    "mori::",
    "mooncake",
    "epdispatch",
    "epcombine",
    "pplx::",
    "moea2a",
    "moealltoall",
    "moe_all_to_all",
    "ibgda",
    "symm_mem",
    "symmetric_memory"};

/// Kernels of those libraries that stay on their GPU: layouts, barriers without data, copies before
/// and after.
constexpr std::array<std::string_view, 5> kLocalWords{
    "layout", "permute", "preprocess", "memset", "convert"};

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

bool is_between_gpus(std::string_view copy) {
    return contains(copy, "PtoP") || contains(copy, "PeerToPeer");
}

bool is_communication(std::string_view name) {
    const std::string text = lower(name);
    return any_of(text, kCommunicationWords) && !any_of(text, kLocalWords);
}

bool is_of_nccl(std::string_view kernel) {
    const std::string text = lower(kernel);
    return contains(text, "nccl") || contains(text, "rccl") || contains(text, "msccl");
}

std::optional<CollectiveKind>
classify_collective(std::string_view collective, std::string_view kernel) {
    const std::string text = lower(collective) + " " + lower(kernel);
    const auto has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
    // Userbuffers sum in kernels that are halves of an all-reduce or all of it, and named after it.
    if (has("userbuffers") && has("_sum_") && !has("reducescatter") && !has("reduce_scatter"))
        return CollectiveKind::kAllReduce;
    if (has("reducescatter") || has("reduce_scatter"))
        return CollectiveKind::kReduceScatter;
    // vLLM's and quickreduce's all-reduces do not say so; NVSHMEM's leave the sum on every GPU.
    if (has("allreduce") || has("all_reduce") || has("cross_device_reduce") || has("quickreduce") ||
        (has("nvshmem") && has("reduce")))
        return CollectiveKind::kAllReduce;
    if (has("allgather") || has("all_gather") || has("fcollect"))
        return CollectiveKind::kAllGather;
    if (has("broadcast"))
        return CollectiveKind::kBroadcast;
    // c10d's names alone: kernels of these words copy within a GPU.
    const std::string call = lower(collective);
    if (contains(call, "gather"))
        return CollectiveKind::kGather;
    if (contains(call, "scatter"))
        return CollectiveKind::kScatter;
    if (has("sendrecv") || has("alltoall") || has("all_to_all") || has("a2a") || has("dispatch") ||
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

std::optional<ElementWidth> element_width(std::string_view text) {
    const std::string name = lower(text);
    const auto is = [&](std::string_view word) { return name.find(word) != std::string::npos; };
    if (is("complex")) {
        if (is("half") || is("complex32"))
            return ElementWidth{Datatype::kFloat16, 2};
        if (is("double") || is("complex128"))
            return ElementWidth{Datatype::kFloat64, 2};
        return ElementWidth{Datatype::kFloat32, 2};
    }
    // Two 4-bit numbers share a byte ("Float4_e2m1fn_x2").
    if (is("float4") || is("fp4") || is("uint4") || is("int4"))
        return ElementWidth{Datatype::kUint8, 1};
    if (is("bits2x4") || is("bits4x2") || is("bits8") || is("bits1x8"))
        return ElementWidth{Datatype::kUint8, 1};
    if (is("bits16") || is("int16") || is("short"))
        return ElementWidth{Datatype::kFloat16, 1};
    if (const auto type = parse_datatype(text))
        return ElementWidth{*type, 1};
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
    if (contains(name, "ncclSym"))
        return contains(name, "MC") ? "nvls" : "symmetric";
    return contains(name, "_TREE_LL") ? "tree" : "";
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
