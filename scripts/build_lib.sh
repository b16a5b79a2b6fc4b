# SPDX-License-Identifier: Apache-2.0
# Sourced by run, test and tidy (with pipefail set): build_preset PRESET [TARGET...] configures and builds in build/PRESET.

# As many jobs as cores, but no more than memory allows: a heavy unit takes about 1.5 GB, one of the large units that
# cmake/targets.cmake makes on few cores 3 GB.
build_jobs() {
    local cores memory_kb total_kb heavy_kb=1500000 fit
    cores=$(nproc)
    total_kb=$(awk '/^MemTotal:/ {print $2}' /proc/meminfo)
    ((cores > 4 || ${total_kb:-0} < 12000000)) || heavy_kb=3000000
    memory_kb=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)
    fit=$((${memory_kb:-heavy_kb} / heavy_kb))
    ((fit >= 1)) || fit=1
    echo $((cores < fit ? cores : fit))
}

build_preset() {
    local preset=$1 log jobs
    shift
    jobs=$(build_jobs)
    log=build/$preset.log
    mkdir -p build
    echo "building build/$preset with $jobs jobs, log in $log" >&2
    if ! {
        cmake --preset "$preset" >"$log" 2>&1 &&
            NINJA_STATUS='[%f/%t %e] ' cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"} 2>&1 |
            tee -a "$log" | scripts/build_progress.py
    }; then
        tail -n 60 "$log" >&2
        echo "the build failed; all of its log is in $log" >&2
        return 1
    fi
}
