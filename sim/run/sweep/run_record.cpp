// SPDX-License-Identifier: Apache-2.0
#include "sim/run/sweep/run_record.h"

#include "sim/core/json.h"

namespace switchfold {

namespace {

Json causes_json(const std::optional<SlowdownByCause>& causes) {
    if (!causes)
        return nullptr;
    return {causes->sm, causes->l2, causes->hbm, causes->latency, causes->clock, causes->other};
}

std::optional<SlowdownByCause> read_causes(const Json& json) {
    if (json.is_null())
        return std::nullopt;
    return SlowdownByCause{json.at(0), json.at(1), json.at(2), json.at(3), json.at(4), json.at(5)};
}

Json collective_json(const std::optional<RecordedCollective>& c) {
    if (!c)
        return nullptr;
    return {
        c->algorithm,
        c->protocol,
        c->fallback,
        c->channels,
        c->ranks,
        c->size_bytes,
        c->time_us,
        c->algorithm_bandwidth_GBps,
        c->bus_bandwidth_GBps};
}

std::optional<RecordedCollective> read_collective(const Json& json) {
    if (json.is_null())
        return std::nullopt;
    return RecordedCollective{
        json.at(0).get<std::string>(),
        json.at(1).get<std::string>(),
        json.at(2).get<std::string>(),
        json.at(3),
        json.at(4),
        json.at(5),
        json.at(6),
        json.at(7),
        json.at(8)};
}

Json scenario_json(const RecordedScenario& s) {
    return {
        s.name,
        s.overlap,
        s.iteration_us,
        s.forward_us,
        s.backward_us,
        s.optimizer_us,
        s.exposed_communication_us,
        s.backward_slowdown ? Json(*s.backward_slowdown) : Json(),
        causes_json(s.causes),
        s.collectives,
        s.collectives_us,
        s.events,
        collective_json(s.collective)};
}

RecordedScenario read_scenario(const Json& json) {
    RecordedScenario s;
    std::size_t at = 0;
    s.name = json.at(at++).get<std::string>();
    s.overlap = json.at(at++);
    for (double* value :
         {&s.iteration_us,
          &s.forward_us,
          &s.backward_us,
          &s.optimizer_us,
          &s.exposed_communication_us})
        *value = json.at(at++);
    if (const Json& slowdown = json.at(at++); !slowdown.is_null())
        s.backward_slowdown = slowdown.get<double>();
    s.causes = read_causes(json.at(at++));
    s.collectives = json.at(at++);
    s.collectives_us = json.at(at++);
    s.events = json.at(at++);
    s.collective = read_collective(json.at(at++));
    return s;
}

}  // namespace

RunRecord record_of(const ExperimentResult& result) {
    RunRecord record;
    record.host = {{}, result.host.wall_s, result.host.peak_rss_bytes};
    for (const ScenarioResult& from : result.scenarios) {
        RecordedScenario& to = record.scenarios.emplace_back();
        static_cast<ScenarioFigures&>(to) = from;
        to.collectives = from.collectives.size();
        for (const CollectiveResult& c : from.collectives)
            to.collectives_us += c.time_us;
        if (result.workload.type == "collective" && !from.collectives.empty()) {
            const CollectiveResult& c = from.collectives.front();
            to.collective = {
                c.algorithm,
                c.protocol,
                c.fallback,
                c.channels,
                c.ranks,
                c.size_bytes,
                c.time_us,
                c.algorithm_bandwidth_GBps,
                c.bus_bandwidth_GBps};
        }
    }
    return record;
}

std::string encode(const RunRecord& record) {
    Json scenarios = Json::array();
    for (const RecordedScenario& scenario : record.scenarios)
        scenarios.push_back(scenario_json(scenario));
    const Json json{
        record.digest,
        record.exit_code,
        record.error,
        record.machine,
        std::move(scenarios),
        record.host.name,
        record.host.wall_s,
        record.host.peak_rss_bytes};
    std::string bytes;
    Json::to_msgpack(json, bytes);
    return bytes;
}

RunRecord decode_record(std::string_view bytes) {
    try {
        const Json json = Json::from_msgpack(bytes.begin(), bytes.end());
        RunRecord record;
        record.digest = json.at(0).get<std::string>();
        record.exit_code = json.at(1);
        record.error = json.at(2).get<std::string>();
        record.machine = json.at(3).get<std::string>();
        for (const Json& scenario : json.at(4))
            record.scenarios.push_back(read_scenario(scenario));
        record.host = {json.at(5).get<std::string>(), json.at(6), json.at(7)};
        return record;
    } catch (const Json::exception& error) {
        throw std::logic_error(std::string("a worker's record is not whole: ") + error.what());
    }
}

}  // namespace switchfold
