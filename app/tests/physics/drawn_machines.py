# SPDX-License-Identifier: Apache-2.0
"""Random machines: a GPU that ships, and a topology of a random family with random links."""
import copy

import machines as m

NVLINK = {"flit": "16 B", "header_flits": 1, "max_payload": "128 B", "request_flits": 1, "write_ack_flits": 0,
          "multicast_ack_flits": 1, "reduce_request_flits": 2}
PCIE = {"flit": "4 B", "header_flits": 6, "max_payload": "256 B", "request_flits": 6, "write_ack_flits": 0}
CABLE = {"flit": "2 B", "header_flits": 13, "max_payload": "4096 B", "request_flits": 21, "write_ack_flits": 0}
GPUS = ("a100_80gb", "h100", "h200", "b200", "v100", "h20", "l40s", "mi300x")
ONE_MACHINE = ("switched", "full_mesh", "direct", "pcie", "torus", "boards", "network")


class Draw:
    def __init__(self, source, rng):
        self.source, self.rng = source, rng

    def link(self, low, high, wire):
        return {"lane_bandwidth": f"{round(1000 * self.rng.uniform(low, high))} MB/s", "latency": f"{self.rng.randint(50, 900)} ns",
                "buffer_per_lane": "256 KiB", "format": wire}

    def switch(self):
        return {"latency": f"{self.rng.randint(50, 500)} ns"}

    def reducing(self):
        rng = self.rng
        return self.switch() | {"multicast": True, "reduction": {
            "entries": rng.choice([16, 64, 256]), "buffer": f"{rng.choice([8, 32, 128])} KiB", "line": "128 B",
            "adders": rng.choice([1, 2, 4]), "adder_rate": f"{rng.randint(8, 50)} GB/s", "latency": "50 ns"}}

    def topology(self, families=ONE_MACHINE):
        return getattr(self, f"_{self.rng.choice(families)}")()

    def _switched(self):
        switches = self.rng.choice([1, 2, 4])
        return {"type": "switched", "gpus": self.rng.choice([2, 4, 8]),
                "lanes_to_switch": [self.rng.randint(1, 6) for _ in range(switches)], "link": self.link(10, 60, NVLINK),
                "switch": self.reducing()}

    def _full_mesh(self):
        return {"type": "full_mesh", "gpus": self.rng.choice([2, 4, 8]), "lanes": self.rng.randint(1, 4),
                "link": self.link(10, 60, NVLINK), "host_link": self.link(10, 60, PCIE), "host": self.switch()}

    def _direct(self):
        gpus = self.rng.choice([4, 8])
        return {"type": "direct", "gpus": gpus, "link": self.link(10, 60, NVLINK), "host_link": self.link(10, 60, PCIE),
                "host": self.switch(), "edges": [{"a": a, "b": a ^ bit, "lanes": self.rng.randint(1, 3)} for bit in (1, 2, 4)
                                                 for a in range(gpus) if a < a ^ bit < gpus]}

    def _pcie(self):
        return {"type": "pcie", "gpus": self.rng.choice([2, 4, 8]), "roots": 1, "switches": self.rng.choice([0, 2]),
                "gpu_link": self.link(10, 60, PCIE), "switch_link": self.link(10, 60, PCIE), "root": self.switch(),
                "switch": self.switch()}

    def _torus(self):
        return {"type": "torus", "dimensions": self.rng.choice([[2, 2], [4, 2], [2, 2, 2]]), "lanes": self.rng.randint(1, 4),
                "gpu_link": self.link(20, 200, NVLINK), "link": self.link(10, 60, NVLINK), "router": self.switch()}

    def _boards(self):
        return {"type": "boards", "boards": 2, "gpus_per_board": self.rng.choice([2, 4]), "switches_per_board": self.rng.choice([1, 2, 3]),
                "lanes_to_switch": self.rng.randint(1, 3), "trunk_lanes": self.rng.randint(2, 8), "link": self.link(10, 60, NVLINK),
                "trunk_link": self.link(10, 60, NVLINK), "switch": self.switch()}

    def _network(self):
        return {"type": "network", "gpus": self.rng.choice([4, 8]), "network": self.network(4, 100)}

    def network(self, low, high):
        kind = self.rng.choice(["switch", "rail", "fat_tree"])
        link = self.link(low, high, CABLE)
        if kind == "switch":
            return {"type": "switch", "link": link, "switch": self.switch()}
        if kind == "rail":
            return {"type": "rail", "machines_per_leaf": self.rng.choice([2, 4]), "spines": self.rng.choice([1, 2]), "link": link,
                    "lanes_to_spine": self.rng.choice([1, 2]), "spine_link": self.link(low, high, CABLE), "switch": self.switch()}
        return {"type": "fat_tree", "levels": 2, "ports": self.rng.choice([8, 16]), "oversubscription": self.rng.choice([1, 3]),
                "link": link, "switch_link": self.link(low, high, CABLE), "switch": self.switch()}

    def cluster(self, nodes=None):
        """Two or three small machines with NICs."""
        inside = self._switched() | {"gpus": self.rng.choice([2, 4])}
        return {"type": "cluster", "nodes": nodes or self.rng.choice([2, 3]), "node": inside, "network": self.network(4, 60),
                "nics": {"gpu_link": self.link(20, 60, PCIE), "link": self.link(20, 60, PCIE), "pcie_switch": self.switch(),
                         "nic": self.switch()}}

    def system(self, topology):
        collectives = self.rng.choice(["hgx_h100", "dgx_a100", "hgx_b200"])
        return {"name": "drawn", "gpu": str(self.source / f"configs/systems/gpus/{self.rng.choice(GPUS)}.json"),
                "topology": topology, "collectives": f"{m.named(self.source, collectives)}#/collectives"}

    def machine(self, families=ONE_MACHINE):
        return self.system(self.topology(families))

    def policy(self, *algorithms):
        """One algorithm with one protocol, so that no knob moves the library's choice."""
        algorithm = self.rng.choice(algorithms or ("ring", "tree"))
        if algorithm in ("ring", "tree"):
            return {"algorithm": algorithm, "protocol": self.rng.choice(["ll", "simple"])}
        return {"algorithm": algorithm, "registered": self.rng.random() < 0.5}

    def collective(self, system, kind=None, size=None, policy=None):
        rng = self.rng
        kind = kind or rng.choice(["all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce"])
        size = size or 4 * round(2**rng.uniform(8, 23))
        policy = policy or self.policy(*(("ring", "tree") if kind == "all_reduce" else ("ring",)))
        return m.collective(system, kind, size, datatype=rng.choice(["float32", "bfloat16"]), **policy)

    def large(self):
        """Bytes of which every rank's share fills the pieces into which a library cuts them."""
        return 4 * self.rng.randint(2**20, 2**23)

    def kernel(self):
        if self.rng.random() < 0.5:
            return m.product(*(128 * self.rng.randint(4, 48) for _ in range(3)))
        return m.stream(self.rng.randint(1, 64) * m.MIB, self.rng.randint(1, 64) * m.MIB, self.rng.choice([64, 512, 2048]))

    def step(self, **more):
        rng = self.rng
        return m.step(ranks=0, blocks=rng.choice([1, 2]), hidden=rng.choice([512, 1024]), sequence=rng.choice([256, 512]),
                      batch=rng.choice([2, 4]), **more)

    def plan(self, ranks, **more):
        """A plan over that many ranks."""
        rng = self.rng
        tensor = rng.choice([n for n in (1, 2, 4) if ranks % n == 0])
        pipeline = rng.choice([n for n in (1, 2) if ranks // tensor % n == 0])
        return m.planned(m.gpt(layers=4, hidden=rng.choice([512, 1024]), sequence=256), data=ranks // tensor // pipeline,
                         tensor=tensor, pipeline=pipeline, micro_batch=rng.choice([1, 2, 4]), accumulate=rng.choice([2, 4]), **more)


def scaled(value, factor, keys):
    """A part of a machine with the numbers under these keys times a factor."""
    if isinstance(value, dict):
        return {k: times(v, factor) if k in keys and isinstance(v, str) else scaled(v, factor, keys) for k, v in value.items()}
    if isinstance(value, list):
        return [scaled(v, factor, keys) for v in value]
    return value


def times(text, factor):
    number, unit = text.split(" ")
    return f"{float(number) * factor:.6f}".rstrip("0").rstrip(".") + f" {unit}"


def with_topology(experiment, change):
    """The experiment on a machine whose topology is changed by a function."""
    out = copy.deepcopy(experiment)
    out["system"]["topology"] = change(out["system"]["topology"])
    return out
