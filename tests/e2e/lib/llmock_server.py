"""Runs llmock of PyPI on a free loopback port: prints its address as one line of JSON, ends with its parent.

The first argument is JSON: `limits` (rpm, tpm, context_window), `error_rates` (by status) and `stream` (fault_rates,
stall_seconds, chunk_delay_ms, max_after_chunks), each as llmock's own settings expect them.
"""

import json
import sys

from llmock.chaos import ChaosSettings, StreamChaos
from llmock.ratelimit import LimitSettings
from llmock.testing import LLMockServer

settings = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
rates = {int(status): rate for status, rate in settings.get("error_rates", {}).items()}
stream = settings.get("stream", {})
stream["fault_rates"] = tuple(sorted(stream.get("fault_rates", {}).items()))
server = LLMockServer(chaos=ChaosSettings(error_rates=rates).validated()).start()
server.state.limiter.configure(LimitSettings(**settings.get("limits", {})))
server.state.stream_chaos = StreamChaos(**stream).validated()
print(json.dumps({"address": server.url}), flush=True)
sys.stdin.read()  # the parent holds the other end
