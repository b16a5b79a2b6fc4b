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
    std::string gpu;                   ///< as the table says it; may be empty
    std::string dtype;                 ///< as the table says it
    std::optional<Datatype> datatype;  ///< none: a word that is not known
    double seconds = 0;
};
struct MeasuredProduct : MeasuredKernel {
    MatrixProduct product;
};
/// Causal, forward.
struct MeasuredAttention : MeasuredKernel {
    Attention attention;
};

/// Measured kernels of either kind.
struct KernelTable {
    std::vector<MeasuredProduct> products;
    std::vector<MeasuredAttention> attentions;
};

/// Reads CSV with a line a kernel: dtype, time_us, and either m, n, k or batch, sequence, heads,
/// kv_heads, head_dim; gpu where it is; other columns are passed over. Throws ConfigError "file:
/// line N: what; what was expected" with everything that is wrong.
[[nodiscard]] KernelTable read_kernel_table(const std::filesystem::path& path);
[[nodiscard]] KernelTable parse_kernel_table(std::string_view text, const std::string& label);

}  // namespace switchfold
