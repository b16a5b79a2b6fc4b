// SPDX-License-Identifier: Apache-2.0
#include "workloads/cut/planned_cut.h"
