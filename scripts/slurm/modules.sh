# SPDX-License-Identifier: Apache-2.0
# Read by each task of a sweep on a cluster whose software comes as modules:
#   switchfold sweep SWEEP.json --out DIR --executor slurm --prologue scripts/slurm/modules.sh
# Name the modules with which switchfold was built there in SWITCHFOLD_MODULES, separated by spaces.
if ! command -v module >/dev/null && [[ -r /etc/profile.d/modules.sh ]]; then
    source /etc/profile.d/modules.sh
fi
if ! command -v module >/dev/null && [[ -r /etc/profile.d/lmod.sh ]]; then
    source /etc/profile.d/lmod.sh
fi
if [[ -n ${SWITCHFOLD_MODULES:-} ]]; then
    # shellcheck disable=SC2086 # a list of words
    module load $SWITCHFOLD_MODULES
fi
