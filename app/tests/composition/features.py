# SPDX-License-Identifier: Apache-2.0
"""What a training step can be asked for, each as a change of one small experiment."""
import copy

# Numbers of ranks and micro-batches: of two features the larger one is taken.
SIZES = ("data", "context", "tensor", "pipeline", "expert", "accumulate", "chunks")

MOE = {"type": "moe", "layers": 4, "hidden": 512, "heads": 8, "kv_heads": 4, "sequence": 256, "vocabulary": 1024,
       "feed_forward": 1024, "experts": 4, "top_k": 2}
GPT = {"type": "gpt", "layers": 4, "hidden": 512, "heads": 8, "sequence": 256, "vocabulary": 1024,
       "tied": False}

LEARNT = {"network": {"type": "mlp", "depth": 4, "width": 8}, "data": {"type": "teacher"}, "learning_rate": 0.05,
          "batch": 32, "steps": 20, "evaluate_every": 10}


def plan(**what):
    """A feature that is a part of the plan."""
    return {("workload", "plan", key): value for key, value in what.items()}


def of(*path, value):
    """A feature at one pointer."""
    return {path: value}


def features(source):
    """Changes by the feature's name, in the order of the page."""
    configs = source / "configs"
    return {
        "data parallelism": plan(data=2, overlap_gradients=False),
        "gradients overlapped": plan(data=2, overlap_gradients=True),
        "sharded optimizer": plan(data=2, sharding="optimizer"),
        "sharded gradients": plan(data=2, sharding="gradients"),
        "sharded weights": plan(data=2, sharding="parameters"),
        "weights in units": plan(data=2, sharding="parameters", unit="512 KiB"),
        "tensor and sequence": plan(tensor=2, sequence=True),
        "context": plan(context=2),
        "experts": plan(data=2, expert=2) | of("workload", "network", value=MOE),
        "experts over nodes": plan(data=4, expert=4, expert_nodes=1) | of("workload", "network", value=MOE) | {
            ("system",): {"$base": str(configs / "systems/dgx_h100_ndr.json"), "name": "nodes",
                          "topology": {"nodes": 4, "node": {"gpus": 2}}}},
        "pipeline": plan(pipeline=2, accumulate=4),
        "interleaved stages": plan(pipeline=2, accumulate=4, schedule="interleaved_1f1b", chunks=2),
        "zero bubble": plan(pipeline=2, accumulate=4, schedule="zb_h1"),
        "two directions": plan(pipeline=2, accumulate=4, schedule="dualpipe_v"),
        "without flush": plan(pipeline=2, schedule="1f1b_async", weights="predict", mini_batches=16),
        "placement by layers": plan(placement={"parts": 2}),
        "a batch divided unequally": plan(data=2, global_batch=24, division=[16, 8], accumulate=None),
        "unequal GPUs": {("system",): {"$base": str(configs / "systems/hgx_h100_host.json"), "name": "unequal",
                                       "gpus": [{"ranks": [1], "gpu": str(configs / "systems/gpus/a100_40gb.json")}]}},
        "memory offloaded": plan(memory={"planner": "offload_all"}),
        "updates within passes": plan(memory={"planner": "none", "updates": "immediate"}),
        "recomputed blocks": plan(recompute="full"),
        "replicas averaged": plan(data=2, average={"every": 4}),
        "host launches": plan(launches=str(configs / "launches/pytorch_eager.json")),
        "a late and slow rank": plan(data=2) | of("ranks", value=[{"rank": 1, "compute": 1.2, "delay": "100 us"}]),
        "reduced in the switch": of("scenarios", value=[{"name": "s", "all_reduce": {"algorithm": "in_switch"}}]),
        "summed in 8 bits": of("scenarios", value=[{"name": "s", "all_reduce": {
            "algorithm": "in_switch", "quantised": {"at": "gpu"}}}]),
        "learning": of("learning", value=LEARNT),
        "members that change": plan(data=2) | of("run", value={
            "steps": 100, "keep": "per_gpu", "costs": str(configs / "costs/default.json"), "method": "join",
            "changes": [{"at": 20, "add": 4}]}),
        "folded": plan(fold=True),
        "products in 8 bits": of("workload", "precision", value="fp8_current"),
        "products in pieces": plan(tensor=2, sequence=True, tensor_overlap=True),
        "tiles released": plan(tensor=2, sequence=True, tensor_overlap=True, tensor_exchange="group") | of(
            "scenarios", value=[{"name": "s", "collectives": {
                kind: {"algorithm": "in_switch", "kernels": "stores"} for kind in ("reduce_scatter", "all_gather")}}]),
    }


def base(source):
    """The experiment that features change."""
    return {"name": "composition", "system": str(source / "configs/systems/hgx_h100_host.json"), "causes": False,
            "workload": {"type": "training", "network": GPT, "plan": {"micro_batch": 2}}, "scenarios": [{"name": "s"}]}


def changed(experiment, *changes):
    """The experiment with the changes of features, or None if they say two things of one."""
    made, said = copy.deepcopy(experiment), {}
    for path, value in (item for change in changes for item in change.items()):
        if path[-1] in SIZES and path in said:
            value = None if None in (value, said[path]) else max(value, said[path])
        elif said.get(path, value) != value:
            return None
        said[path] = value
    for path, value in said.items():
        at = made
        for key in path[:-1]:
            at = at.setdefault(key, {})
        if value is not None:
            at[path[-1]] = value
    return made


def _with(one, *others):
    return [frozenset((one, other)) for other in others]


# Pairs of which one says what the other denies, whatever is built.
NATURE = {
    # Between exchanges replicas' weights differ, so none holds a part for another.
    *_with("replicas averaged", "sharded optimizer", "sharded gradients", "sharded weights", "weights in units",
           "experts", "experts over nodes"),
    # An update within the backward pass needs the sum of all gradients of a layer there and then.
    *_with("updates within passes", "data parallelism", "pipeline", "interleaved stages", "zero bubble",
           "two directions", "a batch divided unequally"),
    # Without flush there is no step that ends, whose batch is divided, or between which members change.
    *_with("without flush", "a batch divided unequally", "replicas averaged", "members that change"),
    # Shares that are named are those of so many replicas.
    *_with("a batch divided unequally", "members that change", "experts over nodes"),
    # No switch reduces for GPUs of several machines here.
    *_with("experts over nodes", "reduced in the switch", "summed in 8 bits"),
    # A placement of layers takes the place of a pipeline's stages.
    *_with("placement by layers", "pipeline", "interleaved stages", "zero bubble", "two directions", "without flush"),
}
