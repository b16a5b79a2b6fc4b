// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/metrics.h"

#include "sim/output/figures.h"

#include <string>

namespace switchfold {

OrderedJson sweep_metrics() {
    OrderedJson metrics = OrderedJson::array(
        {{{"key", "time_us"},
          {"title", "time"},
          {"unit", "us"},
          {"less", true},
          {"log", true},
          {"interval", true},
          {"of_collective", true}},
         {{"key", "bus_bandwidth_GBps"},
          {"title", "bus bandwidth"},
          {"unit", "GB/s"},
          {"less", false},
          {"log", false},
          {"interval", true},
          {"of_collective", true}}});
    for (const Figure& figure : kFigures)
        if (!figure.chart_title.empty())
            metrics.push_back(
                {{"key", figure.key},
                 {"title", figure.chart_title},
                 {"unit", to_string(figure.unit)},
                 {"less", !figure.more_is_better && figure.unit != Unit::kFactor},
                 {"log", false},
                 {"interval", figure.has_interval},
                 {"of_collective", false},
                 {"of_step", figure.table_place > 0 && !figure.pace}});
    return metrics;
}

}  // namespace switchfold
