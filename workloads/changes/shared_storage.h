// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/units.h"

#include <vector>

namespace switchfold::changes {

/// A process that writes to the storage, or reads from it.
struct StorageClient {
    Time arrives;
    Bytes bytes;
};

/// A file system that all share: whoever is at it gets an equal part of its rate, and none more
/// than one process can take.
struct SharedStorage {
    Bandwidth rate;
    Bandwidth client;
};

/// When each client has all of its bytes. Simulated from one arrival or end to the next: between
/// them the number of clients, and with it the rate of each, is constant. Clients of no bytes end
/// as they arrive. Throws std::overflow_error if one of them takes longer than a Time holds.
[[nodiscard]] std::vector<Time>
serve(const SharedStorage& storage, const std::vector<StorageClient>& clients);

}  // namespace switchfold::changes
