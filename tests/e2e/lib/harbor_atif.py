"""ATIF written by third-party code: converters of the PyPI package `harbor` (Apache-2.0), in the version of requirements.txt.

Prints one JSON object: by agent name, the ATIF document that Harbor makes of a short log. The logs were written for
this test, in the agents' own formats as the converters describe and read them; they contain no third-party text.
"""
import __future__
import ast
import importlib.util
import json
import pathlib
import sys
from types import SimpleNamespace

# The modules that the converters import besides the standard library; the rest of their modules starts agents and needs Python 3.12.
USED = ("harbor.models.trajectories", "harbor.utils.logger")


def converter(file, name):
    """Returns a function (or method) of one of Harbor's modules, unchanged, with the functions it names, without the rest."""
    source = pathlib.Path(importlib.util.find_spec("harbor").origin).parent / "agents/installed" / file
    tree = ast.parse(source.read_text())
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    needed = [functions[name]]
    for function in needed:
        named = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        needed += [other for key, other in functions.items() if key in named and other not in needed]
    names = {"__name__": f"harbor.agents.installed.{source.stem}"}
    body = [node for node in tree.body if imported(node)] + needed
    # Annotations stay strings: they may name what is left out.
    exec(compile(ast.Module(body, []), str(source), "exec", __future__.annotations.compiler_flag), names)
    return names[name]


def imported(node):
    if isinstance(node, ast.Import):
        return all(alias.name.split(".")[0] in sys.stdlib_module_names for alias in node.names)
    if not isinstance(node, ast.ImportFrom) or node.module == "__future__":
        return False
    if node.module == "typing":
        node.names = [alias for alias in node.names if alias.name != "override"]
    return node.module in USED or node.module.split(".")[0] in sys.stdlib_module_names


def swe_agent():
    """SWE-agent's .traj: without a task, with a command in each step."""

    def entry(thought, action, observation):
        response = f"{thought}\n\n```\n{action}\n```"
        query = [{"role": "system", "content": "You fix small programs."}, {"role": "user", "content": "Fix the total."}]
        return {"query": query, "response": response, "thought": thought, "action": action, "observation": observation}

    log = {
        "environment": "swe_main",
        "trajectory": [
            entry("The total is wrong, so I look at the sum.", "cat shop/total.py", "def total(prices):\n    return sum(prices[1:])"),
            entry("The first price is left out.", "sed -i 's/prices\\[1:\\]/prices/' shop/total.py", ""),
            entry("That was all.", "submit", "diff --git a/shop/total.py b/shop/total.py\n-    return sum(prices[1:])\n+    return sum(prices)"),
        ],
        "info": {"model_name": "made-up-large", "swe_agent_version": "1.1.0", "input_tokens": 2100, "output_tokens": 140},
    }
    return converter("swe_agent.py", "convert_swe_agent_to_atif")(log, "swe-1")


def hermes():
    """Hermes' session export: OpenAI's messages, parallel calls, a second question."""

    def call(id, path):
        return {"id": id, "type": "function", "function": {"name": "read_file", "arguments": json.dumps({"path": path})}}

    session = {
        "id": "session_1",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Which of a.txt and b.txt"}, {"type": "text", "text": "is longer?"}]},
            {"role": "assistant", "content": "", "tool_calls": [call("call_a", "a.txt"), call("call_b", "b.txt")], "usage": {"prompt_tokens": 300, "completion_tokens": 30}},
            {"role": "tool", "tool_call_id": "call_b", "content": "two words"},
            {"role": "tool", "tool_call_id": "call_a", "content": "three words here"},
            {"role": "assistant", "content": "a.txt is longer.", "usage": {"prompt_tokens": 380, "completion_tokens": 8}},
            {"role": "user", "content": "By how much?"},
            {"role": "assistant", "content": "By one word.", "usage": {"prompt_tokens": 400, "completion_tokens": 6}},
        ],
    }
    agent = SimpleNamespace(version=lambda: "0.4.0", model_name="made-up/medium")
    return converter("hermes.py", "_convert_hermes_session_to_atif")(agent, json.dumps(session), "hermes-1")


def cline():
    """Cline's messages.json: blocks with thinking, results in parts, an image, a result for a missing call."""

    def assistant(second, metrics, *content):
        return {"role": "assistant", "ts": 1_790_000_000_000 + second * 1000, "modelInfo": {"id": "made-up-medium"}, "metrics": metrics, "content": list(content)}

    def user(second, *content):
        return {"role": "user", "ts": 1_790_000_000_000 + second * 1000, "content": list(content)}

    log = {
        "sessionId": "cline-1",
        "messages": [
            user(0, {"type": "text", "text": "What is in the folder?"}, {"type": "image", "mediaType": "image/png"}),
            assistant(
                2,
                {"inputTokens": 500, "outputTokens": 40, "cacheReadTokens": 100, "cacheWriteTokens": 20, "cost": 0.002},
                {"type": "thinking", "thinking": "I list it first."},
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "toolu_1", "name": "list_files", "input": {"path": "."}},
                {"type": "tool_use", "id": "toolu_2", "name": "read_file", "input": {"path": "notes.md"}},
            ),
            user(
                3,
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "notes.md\nplan.md"},
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": [{"type": "text", "text": "# Notes <b>& more</b>"}]},
                {"type": "tool_result", "tool_use_id": "toolu_9", "content": "of an earlier session"},
            ),
            assistant(5, {"inputTokens": 700, "outputTokens": 20}, {"type": "text", "text": "Two files: notes and a plan."}),
        ],
    }
    return converter("cline/trajectory.py", "convert_messages_to_trajectory")(log, agent_name="cline-cli", agent_version="3.2.1")


def mini_swe_agent():
    """mini-swe-agent's own file: Harbor gives results without call ids, and a step with a result but without a call."""

    def assistant(content, at, *commands):
        calls = [{"id": f"call_{at}_{n}", "type": "function", "function": {"name": "bash", "arguments": json.dumps({"command": command})}} for n, command in enumerate(commands)]
        usage = {"prompt_tokens": 100 * at, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 50}}
        extra = {"response": {"usage": usage}, "timestamp": 1_790_000_000 + at}
        return {"role": "assistant", "content": content, "extra": extra, **({"tool_calls": calls} if calls else {})}

    log = {
        "trajectory_format": "mini-swe-agent-1.1",
        "info": {
            "mini_version": "2.4.6",
            "model_stats": {"instance_cost": 0.01, "api_calls": 4},
            "config": {"model": {"model_name": "made-up/small"}, "agent": {"step_limit": 10}},
            "exit_status": "Submitted",
        },
        "messages": [
            {"role": "system", "content": "You work in a shell."},
            {"role": "user", "content": "Count the lines of poem.txt and of song.txt."},
            assistant("I see what is there.", 1, "ls"),
            {"role": "tool", "tool_call_id": "call_1_0", "content": "<returncode>0</returncode>\npoem.txt\nsong.txt"},
            assistant("I count both.", 2, "wc -l poem.txt", "wc -l song.txt"),
            {"role": "tool", "tool_call_id": "call_2_0", "content": "12 poem.txt"},
            {"role": "tool", "tool_call_id": "call_2_1", "content": "30 song.txt"},
            assistant("12 and 30 lines.", 3),
            {"role": "user", "content": "No call was found: every answer has to hold one."},
            assistant("The poem has 12 lines, the song 30.", 4, "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"),
        ],
    }
    return converter("mini_swe_agent.py", "convert_mini_swe_agent_to_atif")(log, "mini-1")


if __name__ == "__main__":
    made = {make.__name__: make().to_json_dict() for make in (swe_agent, hermes, cline, mini_swe_agent)}
    json.dump(made, sys.stdout)
