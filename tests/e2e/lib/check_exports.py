"""Judges exported files with the code of their formats' authors: `check_exports.py KIND FILE…`, one line per fault.

atif            harbor.models.trajectories, which refuses unknown keys
otlp            opentelemetry.proto, with unknown fields refused; the gen_ai names come from opentelemetry.semconv
openai-jsonl    the message shapes of OpenAI's format, as pydantic models
mini-swe-agent  the inspector of mini-swe-agent
"""
import ast
import base64
import importlib.util
import json
import pathlib
import re
import sys
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError


def atif(path, text):
    from harbor.models.trajectories import Trajectory

    return [f"{fault['loc']}: {fault['msg']}" for fault in faults(lambda: Trajectory.model_validate_json(text))]


def otlp(path, text):
    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

    known = {value for name, value in vars(gen_ai_attributes).items() if name.startswith("GEN_AI_") and isinstance(value, str)}
    wrong = []
    # OTLP's JSON mapping has hex ids, where protobuf's has base64.
    document = json.loads(text)
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for key, length in (("traceId", 32), ("spanId", 16), ("parentSpanId", 16)):
                    value = span.get(key)
                    if value is None and key == "parentSpanId":
                        continue
                    if not re.fullmatch(f"[0-9a-f]{{{length}}}", value) or not int(value, 16):
                        wrong.append(f"{key}: {value}")
                    span[key] = base64.b64encode(bytes.fromhex(value)).decode()
                for key in ("startTimeUnixNano", "endTimeUnixNano"):
                    if not isinstance(span[key], str):
                        wrong.append(f"{key} is no string")
                for attribute in span["attributes"]:
                    name = attribute["key"]
                    if name.startswith("gen_ai.") and name not in known:
                        wrong.append(f"{name} is no name of the conventions")
                    if not name.startswith(("gen_ai.", "turnwise.", "error.type")):
                        wrong.append(f"{name} is of no namespace")
    request = json_format.ParseDict(document, ExportTraceServiceRequest(), ignore_unknown_fields=False)
    spans = request.resource_spans[0].scope_spans[0].spans
    if not spans or any(span.end_time_unix_nano < span.start_time_unix_nano for span in spans):
        wrong.append("there are no spans, or one ends before it starts")
    return wrong


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Function(Strict):
    name: str
    arguments: str


class Call(Strict):
    id: str
    type: Literal["function"]
    function: Function


class Message(Strict):
    role: Literal["system", "user", "assistant", "tool"]
    content: str | list[dict[str, Any]] | None = None
    tool_calls: list[Call] | None = None
    tool_call_id: str | None = None


class Definition(Strict):
    name: str
    description: str
    parameters: Any


class Tool(Strict):
    type: Literal["function"]
    function: Definition


class Line(Strict):
    messages: list[Message]
    tools: list[Tool] | None = None


def openai_jsonl(path, text):
    wrong = []
    for number, line in enumerate(text.splitlines(), 1):
        wrong += [f"line {number}, {fault['loc']}: {fault['msg']}" for fault in faults(lambda: Line.model_validate_json(line))]
        asked = []
        for message in json.loads(line)["messages"]:
            if message["role"] == "tool":
                if not asked or message["tool_call_id"] != asked.pop(0):
                    wrong.append(f"line {number}: an answer that nobody asked for")
            else:
                asked = [call["id"] for call in message.get("tool_calls", [])]
    return wrong


def mini_swe_agent(path, text):
    document = json.loads(text)
    if document["trajectory_format"] != "mini-swe-agent-1.1" or not isinstance(document["info"]["exit_status"], str):
        return ["it is not mini-swe-agent-1.1"]
    steps = only("minisweagent", "run/utilities/inspector.py", "_messages_to_steps")(document["messages"])
    return [] if steps else ["its inspector finds no steps"]


def only(package, file, function):
    """Returns one function of a package, without the imports of the rest of its module."""
    source = pathlib.Path(importlib.util.find_spec(package).origin).parent / file
    nodes = [node for node in ast.parse(source.read_text()).body if getattr(node, "name", "") == function]
    names = {}
    exec(compile(ast.Module(nodes, []), str(source), "exec"), names)
    return names[function]


def faults(read):
    try:
        read()
    except ValidationError as error:
        return error.errors()
    return []


KINDS = {"atif": atif, "otlp": otlp, "openai-jsonl": openai_jsonl, "mini-swe-agent": mini_swe_agent}

if __name__ == "__main__":
    kind, *paths = sys.argv[1:]
    found = 0
    for path in paths:
        try:
            wrong = KINDS[kind](path, pathlib.Path(path).read_text())
        except Exception as error:  # any other failure is a fault, too
            wrong = [f"{type(error).__name__}: {error}"]
        for fault in wrong:
            print(f"{path}: {fault}")
        found += len(wrong)
    print(f"{len(paths)} checked, {found} faults")
    sys.exit(1 if found else 0)
