// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/cupti/range_profiler.h"

#include "workloads/capture/cupti/check.h"

#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include <array>

namespace switchfold::capture {

namespace {

constexpr std::array kMetricNames{"dram__bytes_read.sum", "dram__bytes_write.sum"};

/// Metric names for CUPTI, which takes non-const pointers but does not write to them.
std::array<const char*, kMetricNames.size()> metric_names() {
    return kMetricNames;
}

std::vector<std::uint8_t> counter_availability(CUcontext context) {
    CUpti_Profiler_GetCounterAvailability_Params query{};
    query.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE;
    query.ctx = context;
    check_cupti(cuptiProfilerGetCounterAvailability(&query), "asking which counters there are");
    std::vector<std::uint8_t> image(query.counterAvailabilityImageSize);
    query.pCounterAvailabilityImage = image.data();
    check_cupti(cuptiProfilerGetCounterAvailability(&query), "asking which counters there are");
    return image;
}

const char* chip_name(CUcontext context) {
    std::uint32_t device = 0;
    check_cupti(cuptiGetDeviceId(context, &device), "asking for the context's device");
    CUpti_Device_GetChipName_Params query{};
    query.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE;
    query.deviceIndex = device;
    check_cupti(cuptiDeviceGetChipName(&query), "asking for the chip's name");
    return query.pChipName;
}

}  // namespace

RangeProfiler::RangeProfiler(CUcontext context, std::size_t batch) : batch_(batch) {
    CUpti_Profiler_Initialize_Params initialize{};
    initialize.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE;
    check_cupti(cuptiProfilerInitialize(&initialize), "starting the profiler");
    make_host(context);
    make_config();
    CUpti_RangeProfiler_Enable_Params enable{};
    enable.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE;
    enable.ctx = context;
    check_cupti(
        cuptiRangeProfilerEnable(&enable), "enabling the range profiler (may this user count?)");
    profiler_ = enable.pRangeProfilerObject;
    CUpti_RangeProfiler_GetCounterDataSize_Params size{};
    size.structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE;
    size.pRangeProfilerObject = profiler_;
    auto metrics = metric_names();
    size.pMetricNames = metrics.data();
    size.numMetrics = metrics.size();
    size.maxNumOfRanges = batch_;
    size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(batch_);
    check_cupti(cuptiRangeProfilerGetCounterDataSize(&size), "asking for the counters' size");
    counters_.resize(size.counterDataSize);
}

RangeProfiler::~RangeProfiler() {
    CUpti_RangeProfiler_Disable_Params disable{};
    disable.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE;
    disable.pRangeProfilerObject = profiler_;
    cuptiRangeProfilerDisable(&disable);
    CUpti_Profiler_Host_Deinitialize_Params end{};
    end.structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE;
    end.pHostObject = host_;
    cuptiProfilerHostDeinitialize(&end);
}

void RangeProfiler::make_host(CUcontext context) {
    const std::vector<std::uint8_t> available = counter_availability(context);
    CUpti_Profiler_Host_Initialize_Params host{};
    host.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE;
    host.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    host.pChipName = chip_name(context);
    host.pCounterAvailabilityImage = available.data();
    check_cupti(cuptiProfilerHostInitialize(&host), "starting the profiler's host side");
    host_ = host.pHostObject;
}

void RangeProfiler::make_config() {
    auto metrics = metric_names();
    CUpti_Profiler_Host_ConfigAddMetrics_Params add{};
    add.structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE;
    add.pHostObject = host_;
    add.ppMetricNames = metrics.data();
    add.numMetrics = metrics.size();
    check_cupti(cuptiProfilerHostConfigAddMetrics(&add), "choosing DRAM bytes as metrics");
    CUpti_Profiler_Host_GetConfigImageSize_Params size{};
    size.structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE;
    size.pHostObject = host_;
    check_cupti(cuptiProfilerHostGetConfigImageSize(&size), "asking for the config's size");
    config_.resize(size.configImageSize);
    CUpti_Profiler_Host_GetConfigImage_Params image{};
    image.structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE;
    image.pHostObject = host_;
    image.configImageSize = config_.size();
    image.pConfigImage = config_.data();
    check_cupti(cuptiProfilerHostGetConfigImage(&image), "making the config");
    CUpti_Profiler_Host_GetNumOfPasses_Params passes{};
    passes.structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE;
    passes.configImageSize = config_.size();
    passes.pConfigImage = config_.data();
    check_cupti(cuptiProfilerHostGetNumOfPasses(&passes), "asking for the number of passes");
    if (passes.numOfPasses != 1)
        throw std::runtime_error("CUPTI: DRAM bytes need more than one pass on this GPU");
}

void RangeProfiler::clear_counters() {
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params clear{};
    clear.structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE;
    clear.pRangeProfilerObject = profiler_;
    clear.counterDataSize = counters_.size();
    clear.pCounterData = counters_.data();
    check_cupti(cuptiRangeProfilerCounterDataImageInitialize(&clear), "clearing the counters");
}

void RangeProfiler::start() {
    clear_counters();
    CUpti_RangeProfiler_SetConfig_Params config{};
    config.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE;
    config.pRangeProfilerObject = profiler_;
    config.configSize = config_.size();
    config.pConfig = config_.data();
    config.counterDataImageSize = counters_.size();
    config.pCounterDataImage = counters_.data();
    config.range = CUPTI_AutoRange;
    config.replayMode = CUPTI_KernelReplay;
    config.maxRangesPerPass = batch_;
    config.numNestingLevels = 1;
    config.minNestingLevel = 1;
    check_cupti(cuptiRangeProfilerSetConfig(&config), "configuring the range profiler");
    CUpti_RangeProfiler_Start_Params begin{};
    begin.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE;
    begin.pRangeProfilerObject = profiler_;
    check_cupti(cuptiRangeProfilerStart(&begin), "starting to count");
    running_ = true;
}

std::vector<DramBytes> RangeProfiler::stop() {
    running_ = false;
    CUpti_RangeProfiler_Stop_Params end{};
    end.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE;
    end.pRangeProfilerObject = profiler_;
    check_cupti(cuptiRangeProfilerStop(&end), "stopping to count");
    CUpti_RangeProfiler_DecodeData_Params decode{};
    decode.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE;
    decode.pRangeProfilerObject = profiler_;
    check_cupti(cuptiRangeProfilerDecodeData(&decode), "reading the counters");
    CUpti_RangeProfiler_GetCounterDataInfo_Params info{};
    info.structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE;
    info.pCounterDataImage = counters_.data();
    info.counterDataImageSize = counters_.size();
    check_cupti(cuptiRangeProfilerGetCounterDataInfo(&info), "asking for the number of ranges");
    std::vector<DramBytes> bytes;
    for (std::size_t range = 0; range < info.numTotalRanges; ++range)
        bytes.push_back(evaluate(range));
    return bytes;
}

DramBytes RangeProfiler::evaluate(std::size_t range) {
    auto metrics = metric_names();
    std::array<double, kMetricNames.size()> values{};
    CUpti_Profiler_Host_EvaluateToGpuValues_Params evaluate{};
    evaluate.structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE;
    evaluate.pHostObject = host_;
    evaluate.pCounterDataImage = counters_.data();
    evaluate.counterDataImageSize = counters_.size();
    evaluate.rangeIndex = range;
    evaluate.ppMetricNames = metrics.data();
    evaluate.numMetrics = metrics.size();
    evaluate.pMetricValues = values.data();
    check_cupti(cuptiProfilerHostEvaluateToGpuValues(&evaluate), "evaluating a range");
    return {static_cast<std::uint64_t>(values[0]), static_cast<std::uint64_t>(values[1])};
}

}  // namespace switchfold::capture
