// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/params_cursor.h"
#include "core/params_schema.h"
#include "training/network/decoder.h"
#include "training/network/network.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace switchfold {

/// A network with layer times measured on a GPU.
struct ProfileParams {
    static constexpr std::string_view kType = "profile";
    std::string file;
    std::uint32_t batch = 1;
    static constexpr auto fields() {
        return list_of(
            field(
                "file", &ProfileParams::file,
                "graph.txt of PipeDream's profiler, relative to this file.")
                .required(),
            field("batch", &ProfileParams::batch, "Samples of the profiled batch.", 1U, 1U << 20U)
                .required());
    }
};

using NetworkShape = std::variant<GptShape, LlamaShape, MixtureShape, ProfileParams>;

/// A network, by its built-in name, as the path of a table, or by its shape.
struct NeuralNetworkParams {
    std::string text;  ///< name or path; empty if a shape is given
    std::optional<NetworkShape> shape;

    /// The file that contains it, relative to the experiment's; empty if there is none.
    [[nodiscard]] std::filesystem::path file() const;
};

void read_value(const Cursor& c, NeuralNetworkParams& out);
[[nodiscard]] OrderedJson write_value(const NeuralNetworkParams& value);
template <>
struct SchemaOf<NeuralNetworkParams> {
    static OrderedJson make();
};

/// Reads or computes the network. Paths are relative to `folder`. Throws ConfigError and IoError
/// for an unusable file.
[[nodiscard]] Network
make_network(const NeuralNetworkParams& params, const std::filesystem::path& folder);

}  // namespace switchfold
