// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace switchfold {

/// A FIFO that allocates nothing until first used, and then only room for its elements: an empty
/// std::deque costs 600 bytes, which a machine of ten thousand links would pay some forty thousand
/// times. T must be cheap to copy. With `kInline` (a power of two) the first elements lie inside
/// the queue: close to its owner, but the queue cannot be moved. `Count` must be able to count the
/// most elements held at once.
template <class T, std::size_t kInline = 0, class Count = std::uint32_t>
class RingQueue {
public:
    RingQueue() = default;
    ~RingQueue() { give_back(); }
    RingQueue(const RingQueue&) = delete;
    RingQueue& operator=(const RingQueue&) = delete;
    RingQueue(RingQueue&& other) noexcept requires(kInline == 0) :
        slots_(std::exchange(other.slots_, nullptr)),
        head_(std::exchange(other.head_, Count{})),
        size_(std::exchange(other.size_, Count{})),
        capacity_(std::exchange(other.capacity_, Count{})) {}
    RingQueue& operator=(RingQueue&& other) noexcept requires(kInline == 0) {
        std::swap(slots_, other.slots_);
        std::swap(head_, other.head_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }

    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }
    /// Whether another element needs an allocation.
    [[nodiscard]] bool full() const { return size_ == capacity_; }
    [[nodiscard]] T& front() { return slots_[head_]; }
    [[nodiscard]] const T& front() const { return slots_[head_]; }
    [[nodiscard]] T& back() { return slots_[(head_ + size_ - 1U) & (capacity_ - 1U)]; }
    [[nodiscard]] T& operator[](std::size_t i) { return slots_[(head_ + i) & (capacity_ - 1U)]; }
    [[nodiscard]] const T& operator[](std::size_t i) const {
        return slots_[(head_ + i) & (capacity_ - 1U)];
    }
    /// Address of the next element if there is room, for prefetching.
    [[nodiscard]] const T* next_place() const {
        return &slots_[(head_ + size_) & (capacity_ - 1U)];
    }
    void push_back(const T& value) { push_back() = value; }
    /// Appends an element with an unspecified value: what its slot held last.
    T& push_back() {
        if (size_ == capacity_)
            grow();
        return slots_[(head_ + size_++) & (capacity_ - 1U)];
    }
    void pop_front() {
        // An emptied queue restarts at the front, where its memory is cached.
        --size_;
        head_ = static_cast<Count>(size_ == 0 ? 0U : (head_ + 1U) & (capacity_ - 1U));
    }

private:
    void grow() {
        const auto larger = static_cast<Count>(capacity_ == 0 ? 4U : capacity_ * 2U);
        SWITCHFOLD_CHECK(larger > capacity_, "a queue of more than {} elements", capacity_);
        auto slots = std::make_unique<T[]>(larger);
        for (std::size_t i = 0; i < size_; ++i)
            slots[i] = std::move((*this)[i]);
        give_back();
        slots_ = slots.release();
        capacity_ = larger;
        head_ = 0;
    }
    void give_back() {
        if (capacity_ > kInline)
            delete[] slots_;
    }

    T* slots_ = inline_.data();
    Count head_ = 0;
    Count size_ = 0;
    Count capacity_ = kInline;  // a power of two, or 0
    [[no_unique_address]] std::array<T, kInline> inline_{};
};

}  // namespace switchfold
