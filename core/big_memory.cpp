// SPDX-License-Identifier: Apache-2.0
#include "core/big_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace switchfold {

namespace {

/// Opens an unlinked temporary file, which disappears on close; -1 if none can be created.
int nameless_file() {
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
    if (error)
        return -1;
    std::string name = (folder / "switchfold-XXXXXX").string();
    const int file = mkostemp(name.data(), O_CLOEXEC);
    if (file >= 0)
        unlink(name.c_str());
    return file;
}

/// Allocates the file's blocks up to `bytes` at once: if the disk filled up later, writing to the
/// mapping would raise SIGBUS. \returns false if the file may not grow that large or the disk is
/// full.
bool allocate(int file, std::size_t from, std::size_t bytes) {
    rlimit most{};
    // Beyond this limit the kernel sends SIGXFSZ instead of returning an error.
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && bytes > most.rlim_cur)
        return false;
    return posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(bytes - from)) == 0;
}

void* map(int file, std::size_t bytes) {
    return file >= 0
               ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
               : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/// Rounds up to whole windows, hence whole pages; adds a quarter to make growth rare.
std::size_t room_for(std::size_t bytes) {
    const std::size_t room = bytes + bytes / 4;
    return (room + BigMemory::kWindow - 1) / BigMemory::kWindow * BigMemory::kWindow;
}

}  // namespace

BigMemory::~BigMemory() {
    release();
}

void BigMemory::release() const {
    if (mapped_)
        munmap(data_, capacity_);
    else
        std::free(data_);  // NOLINT(cppcoreguidelines-no-malloc): realloc grows in its place
    if (file_ >= 0)
        close(file_);
}

void BigMemory::grow(std::size_t bytes) {
    if (bytes <= capacity_)
        return;
    if (bytes <= kHeapMost) {
        grow_heap(std::max(bytes, std::min(2 * capacity_, kHeapMost)));
        return;
    }
    const std::size_t room = room_for(bytes);
    if (mapped_ && file_ < 0)
        grow_mapping(room);
    else if (!(file_ >= 0 ? grow_file(room) : move_to_file(room)))
        move_to_memory(room);
}

void BigMemory::grow_heap(std::size_t bytes) {
    void* const larger = std::realloc(data_, bytes);  // NOLINT(cppcoreguidelines-no-malloc)
    if (larger == nullptr)
        throw std::bad_alloc();
    data_ = larger;
    capacity_ = bytes;
}

bool BigMemory::move_to_file(std::size_t bytes) {
    const int file = nameless_file();
    if (file < 0)
        return false;
    void* const mapped = allocate(file, 0, bytes) ? map(file, bytes) : MAP_FAILED;
    if (mapped == MAP_FAILED) {
        close(file);
        return false;
    }
    if (capacity_ > 0)
        std::memcpy(mapped, data_, capacity_);
    release();
    data_ = mapped;
    capacity_ = bytes;
    file_ = file;
    mapped_ = true;
    return true;
}

bool BigMemory::grow_file(std::size_t bytes) {
    if (!allocate(file_, capacity_, bytes))
        return false;
    grow_mapping(bytes);
    return true;
}

void BigMemory::move_to_memory(std::size_t bytes) {
    void* const mapped = map(-1, bytes);
    if (mapped == MAP_FAILED)
        throw std::bad_alloc();
    if (capacity_ > 0)
        std::memcpy(mapped, data_, capacity_);
    release();
    data_ = mapped;
    capacity_ = bytes;
    file_ = -1;
    mapped_ = true;
}

void BigMemory::grow_mapping(std::size_t bytes) {
    void* const moved = mremap(data_, capacity_, bytes, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED)
        throw std::bad_alloc();
    data_ = moved;
    capacity_ = bytes;
}

void BigMemory::forget() const {
    if (in_file())  // the heap's pages would read as zeros
        madvise(data_, capacity_, MADV_DONTNEED);
}

}  // namespace switchfold
