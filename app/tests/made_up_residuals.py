# SPDX-License-Identifier: Apache-2.0
"""A root like the repository's with made-up residuals: programs that start in it find these before the shipped ones."""
import pathlib

COLUMNS = "kind,operation,algorithm,generation,fabric,bytes,us,ranks,machines,machine,table,log_ratio,standing"


def root_with_residuals(folder, source):
    """Twelve machines, each off by as much in all that it does: from 15 % too slow here to 13 % too fast. A second step
    of each is off by 2 % more."""
    root = root_without_residuals(folder, source)
    (root / "validation/data").mkdir(parents=True)
    rows = [COLUMNS]
    for machine in range(12):
        off = (machine - 6) / 40
        for kind, operation, ranks, more in (("collective", "all_reduce", 8, 0), ("kernel", "product", 1, 0),
                                             ("kernel", "other", 1, 0), ("overlap", "step", 8, 0),
                                             ("step", "training", 4, 0), ("step", "training", 4, 0.02)):
            rows.append(f"{kind},{operation},,Hopper,switched,0,0,{ranks},1,m{machine},t,{off + more},unseen")
    (root / "validation/data/residuals.csv").write_text("\n".join(rows) + "\n")
    return root


def root_without_residuals(folder, source):
    root = pathlib.Path(folder) / "root"
    root.mkdir()
    (root / "configs").symlink_to(pathlib.Path(source) / "configs")
    return root
