// SPDX-License-Identifier: Apache-2.0
#include "core/csv.h"
#include "sim/output/writers.h"

#include <fmt/format.h>

#include <cmath>

namespace switchfold {

std::string kernel_csv_header() {
    return "scenario,rank,stream,name,class,phase,start_us,duration_us,isolated_us,slowdown,"
           "overlapped_share,bytes_read,bytes_written,flops\n";
}

std::string kernel_csv_line(std::string_view scenario, const KernelRow& row) {
    double slowdown = row.isolated_us > 0 ? row.duration_us / row.isolated_us - 1.0 : 0.0;
    if (std::abs(slowdown) < 5e-7)
        slowdown = 0;  // avoids "-0.000000"
    return fmt::format(
        "{},{},{},{},{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.4f},{},{},{:.0f}\n", csv_field(scenario),
        row.rank, csv_field(row.stream), csv_field(row.name), row.kernel_class, row.phase,
        row.start_us, row.duration_us, row.isolated_us, slowdown, row.overlapped_share,
        row.bytes_read, row.bytes_written, row.flops);
}

std::string pass_csv_header() {
    return "scenario,rank,pass,phase,start_us,duration_us\n";
}

std::string pass_csv_line(std::string_view scenario, const PassRow& row) {
    return fmt::format(
        "{},{},{},{},{:.6f},{:.6f}\n", csv_field(scenario), row.rank, csv_field(row.pass),
        row.phase, row.start_us, row.duration_us);
}

std::string memory_csv_header() {
    std::string header = "scenario,rank,time_us";
    for (const MemoryClassText& memory : kMemoryClasses)
        header.append(",").append(memory.name);
    return header + "\n";
}

std::string memory_csv_line(std::string_view scenario, const MemoryRow& row) {
    std::string line = fmt::format("{},{},{:.6f}", csv_field(scenario), row.rank, row.time_us);
    for (const MemoryClassText& memory : kMemoryClasses)
        line += fmt::format(",{:.0f}", row.bytes[memory.value]);
    return line + "\n";
}

std::string counter_csv_header() {
    return "scenario,track,time_us,value\n";
}

std::string counter_csv_line(std::string_view scenario, const CounterSample& sample) {
    return fmt::format(
        "{},{},{:.6f},{:.3f}\n", csv_field(scenario), csv_field(sample.track), sample.time_us,
        sample.value);
}

}  // namespace switchfold
