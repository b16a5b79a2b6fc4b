// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/shared_storage.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <utility>

namespace switchfold::elastic {

namespace {

constexpr double kPicosecondsInSecond = 1e12;  // in a second
constexpr double kNever = std::numeric_limits<double>::infinity();

/// Throws std::overflow_error if a Time cannot hold it.
Time of_seconds(double seconds) {
    if (seconds * kPicosecondsInSecond >=
        static_cast<double>(std::numeric_limits<std::int64_t>::max()))
        throw std::overflow_error("time of a transfer from or to storage");
    return Time(static_cast<std::uint64_t>(std::llround(seconds * kPicosecondsInSecond)));
}

}  // namespace

std::vector<Time> serve(const SharedStorage& storage, const std::vector<StorageClient>& clients) {
    std::vector<std::size_t> order(clients.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return clients[a].arrives < clients[b].arrives;
    });
    // All active clients get the same rate: ordering them by the bytes that one client would have
    // received since the storage was last idle gives the order in which they finish.
    using Waiting = std::pair<double, std::size_t>;  // bytes received by then, client
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> there;
    std::vector<Time> ends(clients.size());
    const auto rate = static_cast<double>(storage.rate.count());
    const auto most = static_cast<double>(storage.client.count());
    double now = 0;
    double had = 0;
    std::size_t next = 0;
    while (next < order.size() || !there.empty()) {
        const double each =
            there.empty() ? 0 : std::min(most, rate / static_cast<double>(there.size()));
        const double arrival =
            next < order.size() ? to_seconds(clients[order[next]].arrives) : kNever;
        const double end =
            there.empty() ? kNever : now + std::max(0.0, there.top().first - had) / each;
        if (end <= arrival) {
            now = end;
            had = there.top().first;
            while (!there.empty() && there.top().first <= had) {
                ends[there.top().second] = of_seconds(now);
                there.pop();
            }
            continue;
        }
        had = there.empty() ? 0 : had + (arrival - now) * each;
        now = arrival;
        there.emplace(had + static_cast<double>(clients[order[next]].bytes.count()), order[next]);
        ++next;
    }
    return ends;
}

}  // namespace switchfold::elastic
