// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

namespace switchfold {

/// Bytes that may be more than the machine's memory holds: little lies in the heap, much in a
/// temporary file of no name (in TMPDIR, else /tmp) that is mapped. What is there stays where it
/// can be read by its address; forget() lets go of the memory, not of the bytes. Where no file can
/// be had, or the disk is full, it is memory all the same.
class BigMemory {
public:
    /// What is larger lies in a file.
    static constexpr std::size_t kHeapMost = 4U << 20U;
    /// After so many bytes of a pass it is time to forget what is behind.
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
    /// At least so many; addresses change, bytes are kept. Throws std::bad_alloc.
    void grow(std::size_t bytes);
    /// Gives the memory back until its bytes are asked for again; nothing if they lie in the heap.
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
    bool mapped_ = false;  ///< else from the heap
};

}  // namespace switchfold
