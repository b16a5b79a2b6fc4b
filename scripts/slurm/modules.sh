# SPDX-License-Identifier: Apache-2.0
# Prologue for the tasks of a sweep on a cluster that provides its software as modules:
#   switchfold sweep SWEEP.json --out DIR --executor slurm --prologue scripts/slurm/modules.sh
# Set SWITCHFOLD_MODULES to the modules that switchfold was built with there, separated by spaces.
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
