// SPDX-License-Identifier: Apache-2.0
#include "core/json_instances.h"

SWITCHFOLD_JSON_INSTANCES(template, nlohmann::json);
SWITCHFOLD_JSON_INSTANCES(template, nlohmann::ordered_json);
