// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/other_tools.h"

#include "core/text.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace switchfold {

namespace {

using Words = std::initializer_list<std::string_view>;

bool has_one(std::string_view text, Words words) {
    return std::any_of(
        words.begin(), words.end(), [text](std::string_view word) { return contains(text, word); });
}

constexpr const char* kInsteadOfJax =
    "expected an export of Nsight Systems (nsys profile, nsys export --type sqlite) of the same "
    "run, or a capture of switchfold-capture";

std::string report_of_nsight_systems() {
    return "is an Nsight Systems report that is not exported; expected its export: nsys export "
           "--type sqlite";
}

std::string report_of_nsight_compute() {
    return "is an Nsight Compute report, of kernels one by one; expected a trace of the run: nsys "
           "profile --trace=cuda,nvtx, nsys export --type sqlite";
}

std::string profile_of_jax() {
    return std::string("is a JAX/XLA profile (xplane protobuf); ") + kInsteadOfJax;
}

/// Bytes of protobuf that consist of messages with number 1 alone, as far as they reach.
bool repeats_first_field(std::string_view bytes) {
    std::size_t messages = 0;
    constexpr std::size_t kEnough = 3;
    while (!bytes.empty() && messages < kEnough) {
        if (bytes.front() != '\n')
            return false;
        bytes.remove_prefix(1);
        std::uint64_t length = 0;
        std::size_t used = 0;
        bool more = true;
        for (; more && used < bytes.size() && used < 5; ++used) {
            const auto byte = static_cast<unsigned char>(bytes[used]);
            length |= static_cast<std::uint64_t>(byte & 0x7fU) << (7 * used);
            more = (byte & 0x80U) != 0;
        }
        if (more || length == 0)
            return false;
        bytes.remove_prefix(used);
        bytes.remove_prefix(std::min<std::size_t>(bytes.size(), length));
        ++messages;
    }
    return messages == kEnough;
}

std::optional<std::string> archive_of(std::string_view beginning) {
    constexpr std::size_t kTarMagic = 257;
    if (beginning.starts_with("PK\x03\x04"))
        return "is a zip archive; expected the traces in it";
    if (beginning.size() > kTarMagic && beginning.substr(kTarMagic).starts_with("ustar"))
        return "is a tar archive; expected the traces in it";
    return std::nullopt;
}

std::optional<std::string> pickle_of(std::string_view beginning) {
    constexpr unsigned char kProtocol = 0x80;
    if (beginning.size() < 2 || static_cast<unsigned char>(beginning[0]) != kProtocol ||
        beginning[1] < 2 || beginning[1] > 5)
        return std::nullopt;
    if (has_one(beginning, {"pg_config", "pg_status", "profiling_name", "nccl_comm_state"}))
        return "is a flight recorder dump as pickle; expected JSON (python -c 'import json, "
               "pickle, "
               "sys; json.dump(pickle.load(open(sys.argv[1], \"rb\")), open(sys.argv[2], \"w\"))' "
               "DUMP DUMP.json)";
    return "is a pickle of Python; expected a trace";
}

std::optional<std::string> table_of(std::string_view beginning) {
    if (has_one(beginning, {"NVPROF is profiling", "Profiling result:"}))
        return "is a summary of nvprof, which no trace can be made of; expected an export of "
               "Nsight "
               "Systems (SQLite)";
    const std::string line = lower(beginning.substr(0, beginning.find('\n')));
    if (std::count(line.begin(), line.end(), ',') < 2)
        return std::nullopt;
    if (has_one(line, {"agent_id", "dispatch_id", "kernel_name\",\"correlation"}))
        return "is a table of rocprof (CSV); expected rocprofv3's JSON: --output-format json";
    if (has_one(
            line, {"grid x", "grdx", "total time (ns)", "time(%)", "start (ns)", "kernel name"}))
        return "is a table of kernels (CSV) of nvprof or Nsight; expected an export of Nsight "
               "Systems "
               "(SQLite): nsys export --type sqlite";
    return std::nullopt;
}

/// For files whose first bytes do not tell.
std::optional<std::string> named_tool(const std::filesystem::path& file) {
    const std::string name = lower(file.filename().string());
    const auto ends = [&name](Words words) {
        return std::any_of(words.begin(), words.end(), [&name](std::string_view word) {
            return name.ends_with(word);
        });
    };
    if (ends({".nsys-rep", ".qdrep", ".qdstrm"}))
        return report_of_nsight_systems();
    if (ends({".ncu-rep", ".nsight-cuprof-report"}))
        return report_of_nsight_compute();
    if (ends({".xplane.pb", ".xplane.pb.gz"}))
        return profile_of_jax();
    return std::nullopt;
}

}  // namespace

bool is_xplane(std::string_view beginning) {
    constexpr std::size_t kName = 256;  // the first plane's name stands in its first bytes
    return beginning.starts_with('\n') &&
           has_one(
               beginning.substr(0, kName),
               {"/host:CPU", "/device:GPU", "/device:TPU", "/host:metadata", "/host:python-tracer",
                "Task Environment"});
}

std::optional<std::string>
other_tool(const std::filesystem::path& file, std::string_view beginning) {
    if (is_xplane(beginning))
        return profile_of_jax();
    if (beginning.starts_with(std::string_view("NVR\0", 4)))
        return report_of_nsight_compute();
    if (auto archive = archive_of(beginning))
        return archive;
    if (auto pickle = pickle_of(beginning))
        return pickle;
    if (auto named = named_tool(file))
        return named;
    if (has_one(beginning, {"Nsight Systems", "QuadDCommon", "quadd."}))
        return report_of_nsight_systems();
    if (auto table = table_of(beginning))
        return table;
    if (repeats_first_field(beginning))
        return "is a Perfetto trace (protobuf), or another one; expected a trace of a profiler of "
               "GPUs, as PyTorch's profiler or Nsight Systems write them";
    return std::nullopt;
}

std::optional<std::string>
other_tool_of_json(std::string_view beginning, const JsonBeginning& json) {
    if (has_one(
            beginning, {"COMM_COLL_NODE", "COMP_NODE", "METADATA_NODE", "\"ctrlDeps\"",
                        "\"dataDeps\"", "\"ctrl_deps\""}) &&
        !json.has("traceEvents"))
        return "is a Chakra trace as JSON; expected its protobuf (.et), which chakra_jsonizer was "
               "given";
    const bool of_torch = has_one(
        beginning, {"\"cpu_op\"", "\"kernel\"", "\"cuda_runtime\"", "\"hip_runtime\"",
                    "\"cuda_driver\"", "\"deviceProperties\"", "\"user_annotation\""});
    if (!of_torch && has_one(beginning, {"/device:GPU:", "/device:TPU:", "/host:CPU"})) {
        if (contains(beginning, "/job:"))
            return std::string("is a TensorFlow timeline; ") + kInsteadOfJax;
        return std::string("is a JAX profile as Chrome trace, or one of TensorFlow; ") +
               kInsteadOfJax;
    }
    if (!of_torch && has_one(beginning, {"\"XLA Ops\"", "\"XLA Modules\"", "\"hlo_module\""}))
        return std::string("is a JAX profile as Chrome trace; ") + kInsteadOfJax;
    if (!of_torch &&
        has_one(beginning, {"\"GROUP_API\"", "\"KERNEL_LAUNCH\"", "\"cat\": \"PROXY\""}))
        return "is a trace of NCCL's example profiler plugin; expected the log of its Inspector "
               "(ext-profiler/inspector)";
    if (has_one(beginning, {"\"CudaEvent\"", "\"NvtxEvent\"", "\"TraceProcessEvent\""}))
        return "is an export of Nsight Systems as JSON; expected its SQLite export: nsys export "
               "--type sqlite";
    if (has_one(beginning, {"Ascend Hardware", "\"Ascend HAL\""}))
        return "is a trace of Ascend NPUs; expected a trace of NVIDIA's or AMD's GPUs";
    if (json.lines)
        return "holds several JSON values of no known trace format; expected lines of NCCL's "
               "Inspector or of rccl-tests, switchfold's own format, or one value in all";
    return std::nullopt;
}

std::optional<std::string> other_tool_of_sqlite(std::string_view beginning) {
    if (contains(beginning, "CUPTI_ACTIVITY_KIND_KERNEL"))
        return std::nullopt;
    if (contains(beginning, "rocpd_"))
        return "is a database of rocprofv3 (rocpd); expected its JSON: --output-format json, or "
               "rocpd convert";
    if (contains(beginning, "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"))
        return "is a profile of nvprof; expected an export of Nsight Systems: nsys profile, nsys "
               "export --type sqlite";
    return std::nullopt;
}

}  // namespace switchfold
