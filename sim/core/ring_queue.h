// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace switchfold {

/// A FIFO that holds no memory until it is used and none but its elements after: std::deque costs
/// 600 bytes when empty, which a machine of ten thousand links would pay some forty thousand times.
/// T must be cheap to copy. With `kInline` (a power of two) the first elements lie in the queue
/// itself: nearer to what owns it, but it cannot be moved.
template <class T, std::size_t kInline = 0>
class RingQueue {
public:
    RingQueue() = default;
    ~RingQueue() = default;
    RingQueue(const RingQueue&) = delete;
    RingQueue& operator=(const RingQueue&) = delete;
    RingQueue(RingQueue&&) noexcept requires(kInline == 0) = default;
    RingQueue& operator=(RingQueue&&) noexcept requires(kInline == 0) = default;

    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] T& front() { return slots_[head_]; }
    [[nodiscard]] const T& front() const { return slots_[head_]; }
    [[nodiscard]] T& back() { return slots_[(head_ + size_ - 1) & (capacity_ - 1)]; }
    [[nodiscard]] T& operator[](std::size_t i) { return slots_[(head_ + i) & (capacity_ - 1U)]; }
    [[nodiscard]] const T& operator[](std::size_t i) const {
        return slots_[(head_ + i) & (capacity_ - 1U)];
    }
    void push_back(const T& value) { push_back() = value; }
    /// A new last element, which holds what was left in its place.
    T& push_back() {
        if (size_ == capacity_)
            grow();
        return slots_[(head_ + size_++) & (capacity_ - 1)];
    }
    void pop_front() {
        // One that ran empty starts in front again, where its memory is in the cache.
        head_ = --size_ == 0 ? 0 : (head_ + 1) & (capacity_ - 1);
    }

private:
    void grow() {
        const std::uint32_t larger = capacity_ == 0 ? 4 : capacity_ * 2;
        auto slots = std::make_unique<T[]>(larger);
        for (std::size_t i = 0; i < size_; ++i)
            slots[i] = std::move((*this)[i]);
        heap_ = std::move(slots);
        slots_ = heap_.get();
        capacity_ = larger;
        head_ = 0;
    }

    T* slots_ = inline_.data();
    std::uint32_t head_ = 0;
    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = kInline;  // a power of two, or 0
    std::array<T, kInline> inline_{};
    std::unique_ptr<T[]> heap_;
};

}  // namespace switchfold
