// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "workloads/readers/nsight/nccl_ranges.h"
#include "workloads/readers/read_traces.h"
#include "workloads/tests/round_trip.h"
#include "workloads/tests/trace_file.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <sqlite3.h>
#include <zlib.h>

namespace switchfold::nsight_test {
namespace {

using test_data::TemporaryFile;

/// A database like one of nsys: the documented tables with the columns that matter.
class NsightFile {
public:
    NsightFile() : file_("report.sqlite", "") {
        std::filesystem::remove(file_.path());
        sql("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
            "INSERT INTO StringIds VALUES (1, 'gemm'), (2, "
            "'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)'), (3, "
            "'cudaLaunchKernel_v7000'), (4, 'cudaMemcpyAsync_v3020'), (5, 'relu'), (6, "
            "'backward');"
            "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, totalMemory INTEGER, smCount "
            "INTEGER);"
            "INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100 80GB HBM3', 84930330624, 132);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT "
            "NULL, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, "
            "globalPid INTEGER, demangledName INTEGER, shortName INTEGER, gridX INTEGER, gridY "
            "INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, "
            "registersPerThread INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId "
            "INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, "
            "copyKind INTEGER);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid "
            "INTEGER, correlationId INTEGER, nameId INTEGER);"
            "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, "
            "globalTid INTEGER, textId INTEGER, uint64Value INTEGER);");
        kernel(1, 20'000, 30'000, 7, 1);
        kernel(2, 31'000, 90'000, 20, 2);
        kernel(5, 32'000, 40'000, 7, 3);
        sql("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (95000, 96000, 0, 7, 4, 16777216, "
            "4096, 1);"
            "INSERT INTO NVTX_EVENTS VALUES (9000, 15000, 59, NULL, 16777217, 6, NULL), (11500, "
            "12500, 59, 'ncclAllReduce', 16777217, NULL, 4194304), (1, NULL, 34, 'mark', "
            "16777217, NULL, NULL);");
        for (int i = 1; i <= 4; ++i)
            sql(fmt::format(
                "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({}, {}, 16777217, {}, {})",
                10'000 + 1000 * i, 10'800 + 1000 * i, i, i == 4 ? 4 : 3));
    }
    void kernel(int name, int start, int end, int stream, int correlation, int device = 0) {
        sql(fmt::format(
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({}, {}, {}, 1, {}, {}, 16777216, {}, "
            "{}, 64, 2, 1, 256, 1, 1, 40, 1024, 2048)",
            start, end, device, stream, correlation, name, name));
    }
    void sql(const std::string& text) {
        sqlite3* database = nullptr;
        ASSERT_EQ(sqlite3_open(file_.path().c_str(), &database), SQLITE_OK);
        char* error = nullptr;
        ASSERT_EQ(sqlite3_exec(database, text.c_str(), nullptr, nullptr, &error), SQLITE_OK)
            << error;
        sqlite3_close(database);
    }
    [[nodiscard]] TraceWorkload read() const { return read_traces({{file_.path()}}); }
    [[nodiscard]] std::string message() const {
        try {
            static_cast<void>(read());
        } catch (const ConfigError& error) {
            const std::string text = error.what();
            return text.substr(std::min(text.size(), file_.path().string().size() + 2));
        }
        return "accepted";
    }
    [[nodiscard]] const std::filesystem::path& path() const { return file_.path(); }

private:
    TemporaryFile file_;
};

TEST(Nsight, OneReportARankIsOneRun) {
    const NsightFile first;
    const TemporaryFile second("second.sqlite", test_data::content_of(first.path()));
    const TraceWorkload workload = read_traces({{first.path(), second.path()}});
    ASSERT_EQ(workload.graph.ranks.size(), 2U);
    EXPECT_EQ(workload.files[1].file, second.path().string());
    EXPECT_EQ(workload.files[1].rank, 1U);
    EXPECT_EQ(workload.files[1].world_size, 2U);
    EXPECT_EQ(workload.graph.groups.at(0).ranks, (std::vector<std::uint32_t>{0, 1}));
}

TEST(Nsight, ACompressedReportIsTheSame) {
    const NsightFile file;
    const std::string plain = test_data::content_of(file.path());
    const TemporaryFile packed("report.sqlite.gz");
    gzFile out = gzopen(packed.path().c_str(), "wb");
    ASSERT_EQ(gzwrite(out, plain.data(), static_cast<unsigned>(plain.size())), plain.size());
    gzclose(out);
    const TraceWorkload workload = read_traces({{packed.path()}});
    EXPECT_EQ(workload.files[0].file, packed.path().string());
    EXPECT_EQ(*workload.graph.ranks[0], *file.read().graph.ranks[0]);
    try {
        static_cast<void>(read_traces({{packed.path()}, plain.size() / 2}));
        FAIL() << "inflates to more than was allowed";
    } catch (const ConfigError& error) {
        EXPECT_NE(std::string(error.what()).find("when inflated"), std::string::npos);
    }
}

/// Like reduced exports of Nsight Systems 2026: two processes with a GPU each, no table of GPUs, no
/// payloads.
TEST(Nsight, ACutReportSaysWhatItDoesNotHold) {
    NsightFile file;
    file.sql("DROP TABLE TARGET_INFO_GPU;"
             "UPDATE NVTX_EVENTS SET uint64Value = NULL;"
             "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (20000, 30000, 1, 2, 15, 1, 33554432, "
             "1, 1, 64, 2, 1, 256, 1, 1, 40, 1024, 2048);"
             "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (11000, 11800, 33554433, 1, 3)");
    const TraceWorkload workload = file.read();
    ASSERT_EQ(workload.graph.ranks.size(), 2U);
    EXPECT_EQ(workload.files[0].gpu_name, "");
    EXPECT_EQ(workload.files[0].sms, 0U);
    const auto says = [](const TraceFileReport& report, std::string_view what) {
        return std::any_of(report.warnings.begin(), report.warnings.end(), [&](const auto& note) {
            return note.find(what) != std::string::npos;
        });
    };
    EXPECT_TRUE(says(workload.files[0], "TARGET_INFO_GPU does not exist"));
    EXPECT_TRUE(says(workload.files[0], "1 calls of NCCL say no size"));
    EXPECT_TRUE(says(workload.files[0], "names no GPU"));
    EXPECT_EQ(workload.files[0].sizes.at("estimated_from_duration"), 1U);
    EXPECT_FALSE(says(workload.files[0], "holds no collective"));
    EXPECT_TRUE(says(workload.files[1], "holds no collective"));
}

TEST(Nsight, AZeroInAGridIsAnUnknownGrid) {
    NsightFile file;
    file.sql("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridY = 0");
    const TraceWorkload workload = file.read();
    test_data::expect_same(workload, test_data::again(workload));
}

TEST(Nsight, KernelsCopiesCallsAndRanges) {
    const NsightFile file;
    const TraceWorkload workload = file.read();
    check(workload.graph);
    const TraceFileReport& report = workload.files[0];
    EXPECT_EQ(report.format, "Nsight Systems");
    EXPECT_EQ(report.gpu_name, "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(report.sms, 132U);
    EXPECT_EQ(report.kernels, 2U);
    EXPECT_EQ(report.collectives, 1U);
    EXPECT_EQ(report.copies, 1U);
    EXPECT_EQ(report.streams, 2U);
    EXPECT_EQ(report.used.at("runtime calls"), 4U);
    EXPECT_EQ(report.events, 4U + 4U + 3U);
    const RankGraph& rank = *workload.graph.ranks[0];
    std::vector<const Operation*> gpu;
    for (const Operation& operation : rank.operations)
        if (rank.streams[operation.stream].kind == StreamKind::kGpu)
            gpu.push_back(&operation);
    ASSERT_EQ(gpu.size(), 4U);
    const auto& gemm = std::get<KernelOperation>(gpu[0]->body);
    EXPECT_EQ(gemm.grid, (Dim3{64, 2, 1}));
    EXPECT_EQ(gemm.registers_per_thread, 40U);
    EXPECT_EQ(gemm.shared_memory, Bytes(3072));
    EXPECT_EQ(gemm.measured, nanoseconds(10'000));
    const auto& reduce = std::get<CollectiveOperation>(gpu[1]->body);
    EXPECT_EQ(reduce.kind, CollectiveKind::kAllReduce);
    EXPECT_EQ(reduce.bytes, Bytes(4'194'304)) << "NCCL's range says so";
    EXPECT_EQ(reduce.datatype, Datatype::kFloat32);
    EXPECT_EQ(gpu[1]->phase, Phase::kBackward);
    EXPECT_EQ(std::get<CopyOperation>(gpu[3]->body).kind, CopyKind::kHostToDevice);
    test_data::expect_same(workload, test_data::again(workload));
}

TEST(Nsight, EachGpuIsARank) {
    NsightFile file;
    file.kernel(1, 20'500, 30'000, 7, 11, 1);
    const TraceWorkload workload = file.read();
    ASSERT_EQ(workload.graph.ranks.size(), 2U);
    EXPECT_EQ(workload.files[1].rank, 1U);
    EXPECT_EQ(workload.files[1].world_size, 2U);
    EXPECT_EQ(workload.files[1].kernels, 1U);
}

TEST(NsightVersions, WhereNothingIsOlderExportsHaveDefaults) {
    NsightFile file;
    file.sql("UPDATE NVTX_EVENTS SET text = '' WHERE text IS NULL;"
             "UPDATE NVTX_EVENTS SET uint64Value = -1 WHERE uint64Value IS NULL;"
             "INSERT INTO NVTX_EVENTS VALUES (9500, 0, 59, 'open', 16777217, 0, 0), (9600, -1, 59, "
             "'open too', 16777217, -1, 0);"
             "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET registersPerThread = -1");
    const TraceWorkload workload = file.read();
    EXPECT_EQ(
        workload.files[0].dropped.at(
            "NVTX marks, open ranges and ranges long before the first kernel"),
        3U);
    EXPECT_EQ(workload.files[0].used.at("annotations"), 1U) << "backward, by its number";
}

TEST(NsightVersions, RangesMayHaveNoTypes) {
    NsightFile file;
    file.sql("DELETE FROM NVTX_EVENTS WHERE eventType = 34; ALTER TABLE NVTX_EVENTS DROP COLUMN "
             "eventType; ALTER TABLE NVTX_EVENTS DROP COLUMN uint64Value");
    EXPECT_EQ(file.read().files[0].used.at("annotations"), 1U);
    NsightFile other;
    other.sql("UPDATE NVTX_EVENTS SET eventType = 70 WHERE eventType = 59");
    EXPECT_EQ(other.read().files[0].used.at("annotations"), 1U);
}

TEST(NsightVersions, KernelsHaveTextsOrShortNamesForNames) {
    for (const char* change :
         {"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 'mine'",
          "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN demangledName; INSERT INTO StringIds "
          "VALUES (77, 'mine'); UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET shortName = 77"}) {
        NsightFile file;
        file.sql(change);
        const TraceWorkload workload = file.read();
        EXPECT_EQ(workload.files[0].kernels, 3U);
        EXPECT_EQ(std::count(workload.graph.names.begin(), workload.graph.names.end(), "mine"), 1)
            << change;
    }
}

TEST(NsightVersions, WhichGpuADeviceIs) {
    const auto gpu_with = [](const std::string& sql) {
        NsightFile file;
        file.sql("INSERT INTO TARGET_INFO_GPU VALUES (5, 'NVIDIA A100-SXM4-80GB', 1, 108);" + sql);
        return file.read().files[0].gpu_name;
    };
    EXPECT_EQ(gpu_with(""), "NVIDIA H100 80GB HBM3") << "the same number";
    EXPECT_EQ(
        gpu_with("CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid "
                 "INTEGER); INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 9), (5, 0, 1)"),
        "NVIDIA A100-SXM4-80GB")
        << "of process 1";
    EXPECT_EQ(
        gpu_with("ALTER TABLE TARGET_INFO_GPU ADD COLUMN cuDevice INTEGER; UPDATE TARGET_INFO_GPU "
                 "SET cuDevice = 5 - id"),
        "NVIDIA A100-SXM4-80GB");
}

TEST(NsightVersions, TheSizeOfACollectiveMayBeInJson) {
    const auto bytes_with = [](const std::string& sql) {
        NsightFile file;
        file.sql(
            "UPDATE NVTX_EVENTS SET uint64Value = NULL; ALTER TABLE NVTX_EVENTS ADD COLUMN "
            "jsonText TEXT;" +
            sql);
        const TraceWorkload workload = file.read();
        for (const Operation& operation : workload.graph.ranks[0]->operations)
            if (const auto* collective = std::get_if<CollectiveOperation>(&operation.body))
                return collective->bytes;
        return Bytes();
    };
    EXPECT_EQ(bytes_with(""), Bytes(0));
    EXPECT_EQ(
        bytes_with(
            "UPDATE NVTX_EVENTS SET jsonText = '{\"NCCL communicator ID\": 7, \"Message size "
            "[bytes]\": 4096}' WHERE text = 'ncclAllReduce'"),
        Bytes(4096));
    EXPECT_EQ(
        bytes_with(
            "UPDATE NVTX_EVENTS SET jsonText = '{\"Message size [bytes]\":\"8192\"}', text = "
            "'ncclReduceScatter' WHERE text = 'ncclAllReduce'"),
        Bytes(8192));
}

/// NCCL's ranges of the report hold bytes: the communicator of both GPUs, and one call.
void add_payload(NsightFile& file, const std::string& call, std::optional<std::uint64_t> peer) {
    file.kernel(1, 20'500, 30'000, 7, 11, 1);
    const auto number = [](std::uint64_t value, int bytes) {
        std::string hex;
        for (int i = 0; i < bytes; ++i)
            hex += fmt::format("{:02x}", (value >> (8 * i)) & 0xffU);
        return hex;
    };
    const auto blob = [&](std::uint64_t schema, const std::string& payload) {
        const std::uint64_t bytes = payload.size() / 2;
        return "x'" + number(1, 8) + number(schema, 8) + number(bytes, 8) + number(32 + bytes, 8) +
               payload + "'";
    };
    file.sql(
        "UPDATE NVTX_EVENTS SET uint64Value = NULL; ALTER TABLE NVTX_EVENTS ADD COLUMN binaryData "
        "TEXT; CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER NOT NULL, schemaId "
        "INTEGER NOT NULL, idx INTEGER NOT NULL, flags INTEGER, type INTEGER, name TEXT, "
        "description TEXT, arrayOrUnionDetail INTEGER, offset INTEGER);"
        "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId, schemaId, idx, type, name, offset) "
        "VALUES (1, 70, 0, 18, 'NCCL communicator ID', NULL), (1, 70, 1, 5, 'No. of ranks', 8), "
        "(1, 70, 2, 5, 'Rank', 12), (1, 70, 3, 5, 'CUDA device', 16), (1, 71, 0, 18, 'NCCL "
        "communicator ID', NULL), (1, 71, 1, 22, 'Message size [bytes]', 8), (1, 71, 2, 5, 'Peer "
        "rank', 16);"
        "UPDATE NVTX_EVENTS SET binaryData = " +
        blob(
            71,
            number(0xabc, 8) + number(1'048'576, 8) + (peer ? number(*peer, 4) : std::string())) +
        ", text = '" + call + "' WHERE text = 'ncclAllReduce';");
    for (const std::uint64_t rank : {0, 1})
        file.sql(fmt::format(
            "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, binaryData) VALUES "
            "(100, 200, 59, 'ncclCommInitRank', 16777217, {})",
            blob(70, number(0xabc, 8) + number(2, 4) + number(1 - rank, 4) + number(rank, 4))));
}

TEST(NsightVersions, TheSizeAndGroupOfACollectiveMayBeInBytes) {
    NsightFile file;
    add_payload(file, "ncclAllReduce", {});
    const TraceWorkload workload = file.read();
    const Operation* collective = nullptr;
    for (const Operation& operation : workload.graph.ranks[0]->operations)
        if (std::holds_alternative<CollectiveOperation>(operation.body))
            collective = &operation;
    ASSERT_NE(collective, nullptr);
    const auto& reduce = std::get<CollectiveOperation>(collective->body);
    EXPECT_EQ(reduce.bytes, Bytes(1'048'576));
    EXPECT_EQ(workload.graph.groups[reduce.group].name, "communicator abc");
    EXPECT_EQ(workload.graph.groups[reduce.group].ranks, (std::vector<std::uint32_t>{0, 1}));
}

TEST(NsightVersions, ASendMayStateItsPeer) {
    // Rank 0 of the communicator is the second GPU.
    NsightFile file;
    add_payload(file, "ncclSend", 0);
    const TraceWorkload workload = file.read();
    std::vector<SendOperation> sent;
    for (const Operation& operation : workload.graph.ranks[0]->operations)
        if (const auto* send = std::get_if<SendOperation>(&operation.body))
            sent.push_back(*send);
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].peer, 1U);
    EXPECT_EQ(sent[0].bytes, Bytes(1'048'576));
}

TEST(NcclRanges, AGroupKeepsAllItsTransfersOrNone) {
    const auto transfers = [](std::optional<std::uint64_t> last_peer) {
        nsight::NcclRanges ranges;
        const auto add = [&](const char* function, std::uint64_t at, NcclPayload payload) {
            EXPECT_TRUE(ranges.add({function, 1, at, at + 1, payload}, 0));
        };
        NcclPayload message;
        message.communicator = 7;
        message.bytes = 64;
        message.peer = 1;
        add("ncclGroupStart", 1, {});
        add("ncclSend", 2, message);
        add("ncclRecv", 3, message);
        message.peer = last_peer;
        add("ncclSend", 4, message);
        add("ncclGroupEnd", 5, {});
        return ranges.calls().at(0).transfers.size();
    };
    EXPECT_EQ(transfers(2), 3U);
    EXPECT_EQ(transfers({}), 0U);
}

TEST(NsightVersions, GraphsTracedAsAWholeAreCountedAsLost) {
    NsightFile file;
    file.sql("CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId "
             "INTEGER, graphId INTEGER); INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1, 2, "
             "0, 1), (3, 4, 0, 1)");
    const TraceFileReport report = file.read().files[0];
    EXPECT_EQ(report.dropped.at("CUDA graphs traced as a whole"), 2U);
    EXPECT_NE(
        fmt::format("{}", fmt::join(report.warnings, " ")).find("cuda-graph-trace=node"),
        std::string::npos);
}

TEST(NsightErrors, NameTableRowAndColumn) {
    const auto with = [](const std::string& sql) {
        NsightFile file;
        file.sql(sql);
        return file.message();
    };
    EXPECT_EQ(
        with("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 5 WHERE correlationId = 2")
            .find("CUPTI_ACTIVITY_KIND_KERNEL row 2/end: is 5, before the start"),
        0U);
    EXPECT_EQ(
        with("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 'many'")
            .find("CUPTI_ACTIVITY_KIND_KERNEL row 1/gridX: is not a whole number"),
        0U);
    EXPECT_EQ(
        with("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET blockY = -1")
            .find("CUPTI_ACTIVITY_KIND_KERNEL row 1/blockY: is -1"),
        0U);
    EXPECT_EQ(
        with("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 9223372036854775807")
            .find("CUPTI_ACTIVITY_KIND_KERNEL row 1/start: is too far"),
        0U);
    EXPECT_EQ(
        with("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN streamId")
            .find("CUPTI_ACTIVITY_KIND_KERNEL/streamId: is not a column"),
        0U);
    EXPECT_EQ(
        with("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL")
            .find("CUPTI_ACTIVITY_KIND_KERNEL: does not exist"),
        0U);
    EXPECT_EQ(
        with("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL").find("CUPTI_ACTIVITY_KIND_KERNEL: is empty"),
        0U);
    EXPECT_EQ(
        with("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO k; CREATE VIEW "
             "CUPTI_ACTIVITY_KIND_KERNEL AS SELECT * FROM k")
            .find("CUPTI_ACTIVITY_KIND_KERNEL: does not exist"),
        0U)
        << "a view may never end";
}

}  // namespace
}  // namespace switchfold::nsight_test
