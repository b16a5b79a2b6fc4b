// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// The part of NCCL's profiler plugin interface that this plugin uses, versions 1 to 4 (NCCL 2.23
/// to 2.27; later releases still accept version 4), declared according to its documentation
/// (ext-profiler/README.md of NVIDIA/nccl). NCCL looks for the symbols ncclProfiler_v4 ...
/// ncclProfiler_v1, newest first. Only collectives and point-to-point calls are requested, so only
/// these members of the event description's union are declared.
namespace switchfold::capture::nccl {

enum Result : int { kSuccess = 0, kSystemError = 2 };

/// Kinds of events, as bits of the activation mask.
constexpr std::uint8_t kCollective = 1U << 1U;
constexpr std::uint8_t kPointToPoint = 1U << 2U;

template <class CollectivePart, class PointToPointPart>
struct Description {
    std::uint8_t type;
    void* parent;
    int rank;
    union {
        CollectivePart collective;
        PointToPointPart point_to_point;
    };
};

struct CollectiveV1 {
    const char* communicator_name;
    std::uint64_t communicator;
    std::uint64_t sequence;
    std::uint8_t function;
    const void* send_buffer;
    void* receive_buffer;
    std::size_t count;
    int root;
    std::uint8_t datatype;
    std::uint32_t operation;
    std::size_t traffic_bytes;
    std::uint8_t channels;
    std::uint8_t warps;
    std::uint8_t algorithm;
    std::uint8_t protocol;
    int collnet;
    int nvls;
};

struct PointToPointV1 {
    const char* communicator_name;
    std::uint64_t communicator;
    std::uint8_t function;
    void* buffer;
    std::uint8_t datatype;
    std::size_t count;
    int peer;
};

struct CollectiveV2 {
    const char* communicator_name;
    std::uint64_t communicator;
    std::uint64_t sequence;
    const char* function;
    const void* send_buffer;
    void* receive_buffer;
    std::size_t count;
    int root;
    const char* datatype;
    std::size_t traffic_bytes;
    std::uint8_t channels;
    std::uint8_t warps;
    const char* algorithm;
    const char* protocol;
};

struct PointToPointV2 {
    const char* communicator_name;
    std::uint64_t communicator;
    const char* function;
    void* buffer;
    const char* datatype;
    std::size_t count;
    int peer;
};

struct CollectiveV3 {
    const char* communicator_name;
    std::uint64_t communicator;
    std::uint64_t sequence;
    const char* function;
    const void* send_buffer;
    void* receive_buffer;
    std::size_t count;
    int root;
    const char* datatype;
    std::uint8_t channels;
    std::uint8_t warps;
    const char* algorithm;
    const char* protocol;
};

struct CollectiveV4 {
    std::uint64_t sequence;
    const char* function;
    const void* send_buffer;
    void* receive_buffer;
    std::size_t count;
    int root;
    const char* datatype;
    std::uint8_t channels;
    std::uint8_t warps;
    const char* algorithm;
    const char* protocol;
};

struct PointToPointV4 {
    const char* function;
    void* buffer;
    const char* datatype;
    std::size_t count;
    int peer;
    std::uint8_t channels;
};

using DescriptionV1 = Description<CollectiveV1, PointToPointV1>;
using DescriptionV2 = Description<CollectiveV2, PointToPointV2>;
using DescriptionV3 = Description<CollectiveV3, PointToPointV2>;
using DescriptionV4 = Description<CollectiveV4, PointToPointV4>;

using LogFunction =
    void (*)(int level, unsigned long flags, const char* file, int line, const char* format, ...);

using InitUntilV3 = Result (*)(void** context, int* activation_mask);
using InitV4 = Result (*)(
    void** context, int* activation_mask, const char* communicator_name, std::uint64_t communicator,
    int nodes, int ranks, int rank, LogFunction log);

template <class Init, class EventDescription>
struct Profiler {
    const char* name;
    Init init;
    Result (*start_event)(void* context, void** event, EventDescription* description);
    Result (*stop_event)(void* event);
    Result (*record_event_state)(void* event, int state, void* arguments);
    Result (*finalize)(void* context);
};

}  // namespace switchfold::capture::nccl
