// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

#include <vector>

namespace switchfold::elastic {

/// A process that writes to or reads from the storage.
struct StorageClient {
    Time arrives;
    Bytes bytes;
};

/// A shared file system: active clients share its rate equally, up to the limit of one process.
struct SharedStorage {
    Bandwidth rate;
    Bandwidth client;
};

/// Time at which each client has all its bytes. Event-driven: between arrivals and ends the number
/// of clients, and hence each one's rate, is constant. Clients without bytes end on arrival. Throws
/// std::overflow_error if a client takes longer than a Time holds.
[[nodiscard]] std::vector<Time>
serve(const SharedStorage& storage, const std::vector<StorageClient>& clients);

}  // namespace switchfold::elastic
