// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/format/frame.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <stdexcept>

namespace switchfold::capture::frame_test {
namespace {

std::string framed(const Record& record) {
    std::string bytes;
    append_frame(bytes, record);
    return bytes;
}

Record decoded(const std::string& bytes) {
    return decode(frame_at(bytes, 0).value()).value();
}

RC_GTEST_PROP(Frame, KernelsComeBackAsTheyWere, ()) {
    Kernel kernel;
    std::apply(
        [](auto&... field) {
            ((field = *rc::gen::arbitrary<std::decay_t<decltype(field)>>()), ...);
        },
        kernel.fields());
    Kernel back = std::get<Kernel>(decoded(framed(kernel)));
    RC_ASSERT(back.fields() == kernel.fields());
}

RC_GTEST_PROP(Frame, StringsComeBackAsTheyWere, (const std::string& text, std::uint32_t id)) {
    const Name back = std::get<Name>(decoded(framed(Name{id, text})));
    RC_ASSERT(back.id == id);
    RC_ASSERT(back.text == text);
}

RC_GTEST_PROP(Frame, AnyChangedByteIsSeen, ()) {
    std::string bytes = framed(Copy{1, 2, 3, 4, 5, 6, 7, 8, CopyDirection::kPeer, 9});
    const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
    bytes[at] = static_cast<char>(bytes[at] ^ *rc::gen::inRange(1, 256));
    RC_ASSERT(!frame_at(bytes, 0).has_value());
}

TEST(Frame, EveryCutIsTorn) {
    const std::string bytes = framed(Name{1, "ncclDevKernel"});
    for (std::size_t length = 0; length < bytes.size(); ++length)
        EXPECT_FALSE(frame_at(std::string_view(bytes).substr(0, length), 0)) << length;
    EXPECT_EQ(frame_at(bytes, 0).value().next, bytes.size());
}

TEST(Frame, LongStringsAreCutAndNotRefused) {
    const Name back = std::get<Name>(decoded(framed(Name{1, std::string(2'000'000, 'x')})));
    EXPECT_EQ(back.text, std::string(65536, 'x'));
}

TEST(Frame, UnknownKindsAreNoError) {
    EXPECT_FALSE(decode(Frame{999, "whatever", 0}).has_value());
}

TEST(Frame, FieldsThatANewerWriterAddedArePassedOver) {
    const std::string bytes = framed(StreamInfo{1, 2, 3});
    const std::string longer = std::string(frame_at(bytes, 0).value().payload) + "more";
    const auto record = decode(Frame{StreamInfo::kTag, longer, 0});
    EXPECT_EQ(std::get<StreamInfo>(record.value()).priority, 3U);
}

TEST(Frame, FieldsThatAnOlderWriterDidNotKnowHaveTheirDefaults) {
    Session session;
    session.rank = 5;
    session.world_size = 8;
    const std::string bytes = framed(session);
    const std::string_view payload = frame_at(bytes, 0).value().payload;
    const auto record = decode(Frame{Session::kTag, payload.substr(0, 8), 0});
    EXPECT_EQ(std::get<Session>(record.value()).rank, 5U);
    EXPECT_EQ(std::get<Session>(record.value()).world_size, 1U);
}

TEST(Frame, APayloadThatEndsWithinAFieldIsAnError) {
    EXPECT_THROW((void)decode(Frame{Kernel::kTag, "short", 0}), std::invalid_argument);
    EXPECT_THROW(
        (void)decode(Frame{Name::kTag, std::string_view("\1\0\0\0\xff\0\0\0", 8), 0}),
        std::invalid_argument);
}

}  // namespace
}  // namespace switchfold::capture::frame_test
