// SPDX-License-Identifier: Apache-2.0
#include "sim/config/run_params.h"

#include <fmt/format.h>

namespace switchfold {

namespace {

constexpr const char* kMoment = "a number of steps, or a time such as \"3600 s\"";
constexpr const char* kGpus = "a number of GPUs, or an array of ranks";

/// "\"3600 s\"" or "5".
std::string told(const elastic::Moment& moment) {
    return moment.step ? fmt::format("{}", *moment.step) : to_string(moment.time);
}

}  // namespace

void read_value(const Cursor& c, MomentParams& out) {
    out = {};
    if (c.value->is_number_unsigned())
        out.step = c.value->get<std::uint64_t>();
    else if (c.value->is_string())
        read_value(c, out.time);
    else
        fail_type(c, kMoment);
}

OrderedJson write_value(const MomentParams& value) {
    return value.step ? OrderedJson(*value.step) : OrderedJson(to_string(value.time));
}

OrderedJson SchemaOf<MomentParams>::make() {
    return {
        {"title", "step or time"},
        {"anyOf",
         OrderedJson::array({{{"type", "integer"}, {"minimum", 0}}, SchemaOf<Time>::make()})}};
}

void read_value(const Cursor& c, GpusParams& out) {
    out = {};
    if (c.value->is_number_unsigned()) {
        read_value(c, out.count);
    } else if (c.value->is_array()) {
        for (std::size_t i = 0; i < c.value->size(); ++i)
            read_value(c.item(i), out.ranks.emplace_back());
    } else {
        fail_type(c, kGpus);
    }
}

OrderedJson write_value(const GpusParams& value) {
    return value.ranks.empty() ? OrderedJson(value.count) : OrderedJson(value.ranks);
}

OrderedJson SchemaOf<GpusParams>::make() {
    const OrderedJson whole{{"type", "integer"}, {"minimum", 0}};
    return {
        {"title", "number or ranks"},
        {"anyOf", OrderedJson::array({whole, {{"type", "array"}, {"items", whole}}})}};
}

void FailureParams::check(ParamChecker& checker) const {
    using elastic::Method;
    if (per_gpu_day > 0 && !file.empty())
        checker.error("/file", "is given, and a rate beside it; expected one of the two");
    if (per_gpu_day == 0 && file.empty())
        checker.error("", "has no source of failures; expected per_gpu_day or file");
    if (method != Method::kFailure && method != Method::kRestart)
        checker.error(
            "/method", fmt::format("is {}; expected failure or restart", enum_name(method)));
    if (rejoin == Method::kLeave || rejoin == Method::kFailure)
        checker.error(
            "/rejoin",
            fmt::format("is {}; expected join, reconnect or restart", enum_name(rejoin)));
}

std::vector<elastic::Change> RunParams::written() const {
    std::vector<elastic::Change> all;
    for (const ChangeParams& params : changes) {
        elastic::Change& change = all.emplace_back();
        change.at = params.at;
        change.add = params.add;
        change.remove = params.remove;
        change.method = params.method.value_or(method);
        change.notice = params.notice;
        change.announced = params.announced;
        change.died = params.died || change.method == elastic::Method::kFailure;
        change.written = all.size() - 1;
    }
    return all;
}

void RunParams::check(ParamChecker& checker) const {
    if ((steps > 0) == (time.count() > 0))
        checker.error(
            "", steps > 0 ? "has steps and a time; expected one of the two"
                          : "has no length; expected steps or time");
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const elastic::Moment& at = changes[i].at;
        const bool past =
            at.step ? steps > 0 && *at.step >= steps : time.count() > 0 && at.time >= time;
        if (past)
            checker.error(
                fmt::format("/changes/{}/at", i),
                fmt::format(
                    "is {}, and the run ends at {}; expected a change before that", told(at),
                    steps > 0 ? fmt::format("step {}", steps) : to_string(time)));
    }
    if (!failures)
        return;
    if (time.count() == 0)
        checker.error("/failures", "come at times, and the run has steps; expected time");
    for (std::size_t i = 0; i < changes.size(); ++i)
        if (changes[i].at.step)
            checker.error(
                fmt::format("/changes/{}/at", i),
                "is a step, and failures come at times; expected a time");
}

}  // namespace switchfold
