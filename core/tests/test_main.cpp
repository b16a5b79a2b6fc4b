// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}

// libsystemc leaves sc_main undefined; it is never called, because main is ours.
extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
    return 1;
}
