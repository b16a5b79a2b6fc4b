// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

namespace switchfold {

/// A buffer that may exceed the machine's memory. Small buffers use the heap; large ones an
/// unlinked, mapped temporary file (in TMPDIR, else /tmp). Addresses stay valid; forget() drops
/// resident pages, not bytes. If no file can be created or the disk is full, large buffers use
/// memory as well.
class BigMemory {
public:
    /// Buffers above this size (bytes) use a file.
    static constexpr std::size_t kHeapMost = 4U << 20U;
    /// Bytes that a pass covers between two calls of forget().
    static constexpr std::size_t kWindow = 4U << 20U;

    BigMemory() = default;
    ~BigMemory();
    BigMemory(const BigMemory&) = delete;
    BigMemory& operator=(const BigMemory&) = delete;
    BigMemory(BigMemory&& other) noexcept { swap(other); }
    BigMemory& operator=(BigMemory&& other) noexcept {
        swap(other);
        return *this;
    }

    [[nodiscard]] void* data() const { return data_; }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    [[nodiscard]] bool in_file() const { return file_ >= 0; }
    /// Grows to at least `bytes`. The content is kept; addresses change. Throws std::bad_alloc.
    void grow(std::size_t bytes);
    /// Drops resident pages, which are read back on the next access; no effect on a heap buffer.
    void forget() const;

private:
    void swap(BigMemory& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(capacity_, other.capacity_);
        std::swap(file_, other.file_);
        std::swap(mapped_, other.mapped_);
    }
    void grow_heap(std::size_t bytes);
    [[nodiscard]] bool move_to_file(std::size_t bytes);
    [[nodiscard]] bool grow_file(std::size_t bytes);
    void move_to_memory(std::size_t bytes);
    void grow_mapping(std::size_t bytes);
    void release() const;

    void* data_ = nullptr;
    std::size_t capacity_ = 0;
    int file_ = -1;
    bool mapped_ = false;  ///< otherwise on the heap
};

}  // namespace switchfold
