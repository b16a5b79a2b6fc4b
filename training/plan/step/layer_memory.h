// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/step/pass_writer.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace switchfold {

class TrainingStep;

/// Moves a rank's data between layers: told before and after each layer of each pass, in the order
/// of the device's passes, and before and after the update of each layer. Of two passes beside each
/// other the second lane's comes first. It counts the memory that
/// layers and weights take; the rank's writer then does not.
class LayerMemory {
public:
    LayerMemory() = default;
    LayerMemory(const LayerMemory&) = delete;
    LayerMemory& operator=(const LayerMemory&) = delete;
    LayerMemory(LayerMemory&&) = delete;
    LayerMemory& operator=(LayerMemory&&) = delete;
    virtual ~LayerMemory() = default;

    /// The lane's next operations are the layer's; it waits for what is fetched for them.
    virtual void before(PassWriter& writer, std::size_t lane, std::uint32_t layer, Phase phase) = 0;
    virtual void after(PassWriter& writer, std::size_t lane, Phase phase) = 0;
    /// All operations are written.
    virtual void end() = 0;
};

/// Makes that of each rank of a step.
class LayerMemories {
public:
    LayerMemories() = default;
    LayerMemories(const LayerMemories&) = default;
    LayerMemories& operator=(const LayerMemories&) = default;
    LayerMemories(LayerMemories&&) = default;
    LayerMemories& operator=(LayerMemories&&) = default;
    virtual ~LayerMemories() = default;

    [[nodiscard]] virtual std::unique_ptr<LayerMemory>
    of(const TrainingStep& step, std::uint32_t device) const = 0;
};

}  // namespace switchfold
