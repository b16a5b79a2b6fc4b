// SPDX-License-Identifier: Apache-2.0
#include "sim/core/json.h"
#include "sim/output/writers.h"

namespace switchfold {

namespace {

OrderedJson counts(const std::map<std::string, std::uint64_t>& values) {
    OrderedJson out = OrderedJson::object();
    for (const auto& [key, value] : values)
        out[key] = value;
    return out;
}

OrderedJson scenario_json(const ScenarioResult& s) {
    OrderedJson collectives = OrderedJson::array();
    for (const CollectiveResult& c : s.collectives)
        collectives.push_back(
            {{"name", c.name},
             {"algorithm", c.algorithm},
             {"protocol", c.protocol},
             {"channels", c.channels},
             {"ranks", c.ranks},
             {"size_bytes", c.size_bytes},
             {"start_us", c.start_us},
             {"ready_us", c.ready_us},
             {"time_us", c.time_us},
             {"algorithm_bandwidth_GBps", c.algorithm_bandwidth_GBps},
             {"bus_bandwidth_GBps", c.bus_bandwidth_GBps}});
    OrderedJson links = OrderedJson::array();
    for (const LinkResult& l : s.links)
        links.push_back(
            {{"name", l.name},
             {"payload_bytes", l.payload_bytes},
             {"wire_bytes", l.wire_bytes},
             {"utilization", l.utilization},
             {"blocked_packets", l.blocked_packets}});
    OrderedJson units = OrderedJson::array();
    for (const ReductionUnitResult& u : s.reduction_units)
        units.push_back(
            {{"name", u.name},
             {"reductions", u.reductions},
             {"bytes_out", u.bytes_out},
             {"stalled_requests", u.stalled_requests},
             {"peak_entries", u.peak_entries}});
    return {
        {"name", s.name},
        {"overlap", s.overlap},
        {"iteration_us", s.iteration_us},
        {"forward_us", s.forward_us},
        {"backward_us", s.backward_us},
        {"optimizer_us", s.optimizer_us},
        {"exposed_communication_us", s.exposed_communication_us},
        {"backward_slowdown", s.backward_slowdown},
        {"slowdown_by_cause",
         {{"sm", s.causes.sm},
          {"l2", s.causes.l2},
          {"hbm", s.causes.hbm},
          {"clock", s.causes.clock},
          {"other", s.causes.other}}},
        {"notes", s.notes},
        {"collectives", collectives},
        {"links", links},
        {"reduction_units", units}};
}

}  // namespace

std::string to_result_json(const ExperimentResult& r) {
    OrderedJson scenarios = OrderedJson::array();
    for (const ScenarioResult& s : r.scenarios)
        scenarios.push_back(scenario_json(s));
    const WorkloadResult& w = r.workload;
    const OrderedJson out{
        {"schema", "switchfold-result-1"},
        {"experiment", r.experiment},
        {"version", r.version},
        {"config_digest", r.config_digest},
        {"workload",
         {{"type", w.type},
          {"source", w.source},
          {"synthetic", w.synthetic},
          {"ranks", w.ranks},
          {"traced_ranks", w.traced_ranks},
          {"steps", w.steps},
          {"measured_iteration_us",
           w.measured_iteration_us ? OrderedJson(*w.measured_iteration_us) : OrderedJson(nullptr)},
          {"events_used", counts(w.used)},
          {"events_dropped", counts(w.dropped)},
          {"kernel_durations", counts(w.duration_sources)},
          {"kernel_bytes", counts(w.byte_sources)},
          {"collective_sizes", counts(w.size_sources)},
          {"notes", w.notes}}},
        {"scenarios", scenarios},
        {"host",
         {{"wall_s", r.host.wall_s},
          {"peak_rss_bytes", r.host.peak_rss_bytes},
          {"events", r.host.events}}}};
    return out.dump(2) + "\n";
}

}  // namespace switchfold
