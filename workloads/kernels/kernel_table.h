// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/attention.h"
#include "workloads/kernels/matrix_product.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// One measured kernel.
struct MeasuredKernel {
    std::size_t line = 0;
    std::string gpu;                   ///< as in the table; may be empty
    std::string dtype;                 ///< as in the table
    std::optional<Datatype> datatype;  ///< none: unknown word
    double seconds = 0;
};
struct MeasuredProduct : MeasuredKernel {
    MatrixProduct product;
};
/// A causal forward kernel.
struct MeasuredAttention : MeasuredKernel {
    Attention attention;
};

/// Measured kernels of both kinds.
struct KernelTable {
    std::vector<MeasuredProduct> products;
    std::vector<MeasuredAttention> attentions;
};

/// Reads CSV with one kernel per line: dtype, time_us, and either m, n, k or batch, sequence,
/// heads, kv_heads, head_dim; gpu is optional; other columns are ignored. Throws ConfigError "file:
/// line N: what; what was expected" with all problems.
[[nodiscard]] KernelTable read_kernel_table(const std::filesystem::path& path);
[[nodiscard]] KernelTable parse_kernel_table(std::string_view text, const std::string& label);

}  // namespace switchfold
