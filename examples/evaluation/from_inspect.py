"""Turns samples of Inspect into cases of `turnwise run`.

    python from_inspect.py theory_of_mind.jsonl --scorer includes > tasks.jsonl
    python from_inspect.py my_evals.py:my_dataset --scorer choice > tasks.jsonl

The source is a JSON, JSON Lines or CSV file of samples, or a function that returns a dataset or a task.
"""

import argparse
import importlib.util
import json
import sys

from inspect_ai.dataset import csv_dataset, json_dataset

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def samples_of(source):
    file, _, function = source.partition(":")
    if not function:
        return csv_dataset(file) if file.endswith(".csv") else json_dataset(file)
    spec = importlib.util.spec_from_file_location("source", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = getattr(module, function)()
    return getattr(made, "dataset", made)


def case_of(sample, at, scorer):
    messages = [{"role": "user", "content": sample.input}] if isinstance(sample.input, str) else [{"role": one.role, "content": one.text} for one in sample.input]
    system = "\n\n".join(one["content"] for one in messages if one["role"] == "system")
    asked = [one["content"] for one in messages if one["role"] != "system"]
    if len(asked) != 1 or sample.sandbox or sample.setup:
        sys.exit(f"sample {at}: a conversation of several messages, a sandbox or a setup script cannot be a case; write these by hand")
    [task] = asked
    if sample.choices:
        task += "\n\n" + "\n".join(f"{LETTERS[n]}) {choice}" for n, choice in enumerate(sample.choices))
        task += "\n\nEnd with one line of the form ANSWER: LETTER, with the letter of the right choice."
    case = {"id": f"{sample.id or at}", "task": task, "target": sample.target, "metadata": {**(sample.metadata or {}), "scorer": scorer}}
    return {**case, **({"system": system} if system else {})}


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("source")
    options.add_argument("--scorer", default="includes", choices=["includes", "match", "choice"])
    given = options.parse_args()
    for at, sample in enumerate(samples_of(given.source), start=1):
        print(json.dumps(case_of(sample, at, given.scorer), ensure_ascii=False))
