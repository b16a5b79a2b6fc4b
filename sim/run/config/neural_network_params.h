// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/params.h"
#include "sim/core/params_cursor.h"
#include "sim/core/params_schema.h"
#include "workloads/network/decoder.h"
#include "workloads/network/network.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>

namespace switchfold {

/// A network whose layers were timed on a GPU.
struct ProfileParams {
    static constexpr std::string_view kType = "profile";
    std::string file;
    std::uint32_t batch = 1;
    static constexpr auto fields() {
        return std::tuple{
            field(
                "file",
                &ProfileParams::file,
                "graph.txt of PipeDream's profiler, relative to this file.")
                .required(),
            field("batch", &ProfileParams::batch, "Samples that it timed.", 1U, 1U << 20U)
                .required()};
    }
};

using NetworkShape = std::variant<GptShape, LlamaShape, MixtureShape, ProfileParams>;

/// A network by its name in the zoo, as the path of a table, or by its shape.
struct NeuralNetworkParams {
    std::string text;  ///< name or path; empty where there is a shape
    std::optional<NetworkShape> shape;

    /// The file that it is in, relative to that of the experiment; empty if it is in none.
    [[nodiscard]] std::filesystem::path file() const;
};

void read_value(const Cursor& c, NeuralNetworkParams& out);
[[nodiscard]] OrderedJson write_value(const NeuralNetworkParams& value);
template <>
struct SchemaOf<NeuralNetworkParams> {
    static OrderedJson make();
};

/// What the parameters name, read or computed. `folder` is what paths are relative to. Throws
/// ConfigError and IoError for a file that cannot be used.
[[nodiscard]] Network
make_network(const NeuralNetworkParams& params, const std::filesystem::path& folder);

}  // namespace switchfold
