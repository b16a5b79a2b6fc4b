// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params_reader.h"
#include "core/params_schema.h"
#include "core/params_writer.h"
#include "sim/config/experiment.h"

#include <string>
#include <string_view>
#include <type_traits>

namespace switchfold {

// Templates of these types are instantiated in one file per type. Only those files and load.cpp
// include this.

// File names as in scripts/update_schemas.
template <>
inline constexpr std::string_view kSchemaFile<SystemParams> = "system.schema.json";
template <>
inline constexpr std::string_view kSchemaFile<TopologyParams> = "topology.schema.json";
template <>
inline constexpr std::string_view kSchemaFile<CollectiveParams> = "collectives.schema.json";
template <>
inline constexpr std::string_view kSchemaFile<GpuParams> = "gpu.schema.json";
template <>
inline constexpr std::string_view kSchemaFile<ProcessorParams> = "processor.schema.json";

// A workload is read and written as that of its kind (sim/kinds/workload_parameters.cpp).
void read_value(const Cursor& c, Workload& out);
[[nodiscard]] OrderedJson write_value(const Workload& value);
template <>
struct SchemaOf<Workload> {
    static OrderedJson make();
};

/// Reader, writer and schema of T: declared with `extern`, instantiated with an empty `linkage`.
#define SWITCHFOLD_PARAMETERS(linkage, T)                                                          \
    linkage template void read_value(const Cursor& c, T& out);                                     \
    linkage template OrderedJson write_value(const T& value);                                      \
    linkage template OrderedJson make_schema(std::type_identity<T>)

/// The same of a Boxed<T>: whoever reads its owner need not know T.
#define SWITCHFOLD_BOXED_PARAMETERS(linkage, T)                                                    \
    linkage template void read_value(const Cursor& c, Boxed<T>& out);                              \
    linkage template OrderedJson write_value(const Boxed<T>& value);                               \
    linkage template struct SchemaOf<Boxed<T>>

SWITCHFOLD_BOXED_PARAMETERS(extern, LearningParams);
SWITCHFOLD_BOXED_PARAMETERS(extern, PlannerParams);
SWITCHFOLD_BOXED_PARAMETERS(extern, RunParams);
SWITCHFOLD_PARAMETERS(extern, ClusterTopology);
SWITCHFOLD_PARAMETERS(extern, CollectiveParams);
SWITCHFOLD_PARAMETERS(extern, DeviceParams);
SWITCHFOLD_PARAMETERS(extern, GpuParams);
SWITCHFOLD_PARAMETERS(extern, ProcessorParams);
SWITCHFOLD_PARAMETERS(extern, SwitchedTopology);
SWITCHFOLD_PARAMETERS(extern, TopologyParams);

}  // namespace switchfold
