"""Runs the samples' verifiers over the published test vectors; prints what each says, as JSON."""

import importlib
import json
import pathlib
import sys

samples = pathlib.Path(__file__).parents[3] / "examples" / "sdk"
sys.path.insert(0, str(samples))
sys.dont_write_bytecode = True

published = json.loads((samples / "vectors.json").read_text("utf-8"))


def check(is_signed):
    return {
        "accepted": [
            [is_signed(secret, one["svc_signature"], one["body"].encode(), one["timestamp"]) for secret in one["secrets"]]
            for one in published["vectors"]
        ],
        "refused": [
            is_signed(one["secret"], one["svc_signature"], one["body"].encode(), one["now"])
            for one in published["refused"]
        ],
    }


print(json.dumps({name: check(importlib.import_module(name).is_signed) for name in ("main", "callback")}))
