# What Inspect itself makes of some answers: python inspect_results.py FOLDER > inspect-results.json, with inspect-ai 0.3.285.
# Each part has samples, the cases that examples/evaluation/from_inspect.py makes of them, the answers of each epoch (as a scripted model
# gives them), Inspect's verdicts, accuracy and standard error.
import json
import pathlib
import re
import subprocess
import sys

from inspect_ai import Task, eval as run
from inspect_ai.dataset import json_dataset
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import choice, includes, match
from inspect_ai.solver import generate, multiple_choice, solver as made_solver

here = pathlib.Path(__file__).parent
folder = pathlib.Path(sys.argv[1])

PARTS = {
    "includes": (
        [
            {"id": "paris", "input": "Capital of France?", "target": "Paris"},
            {"id": "either", "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "A colour?"}], "target": ["red", "blue"]},
            {"id": "sql", "input": "How do I prevent injection?", "target": "prepared statements", "metadata": {"level": 2}},
        ],
        [["It is PARIS.", "Blue", "Prepared statements"], ["paris", "green", "prepared  statements"], ["Lyon", "Red or so", "Use prepared statements!"], ["nothing", "dark blue", "no"]],
    ),
    "match": (
        [{"id": "a", "input": "1?", "target": "42"}, {"id": "b", "input": "2?", "target": "the end."}],
        [["It is 42.", "This is THE END"], ["42 it is", "the end!!! "], ["**42**", "the end is near"], ["142", "(the end)"]],
    ),
    "choice": (
        [{"id": "x", "input": "Which is a planet?", "choices": ["Sun", "Mars", "Moon"], "target": "B"}],
        [["I think so.\nANSWER: B"], ["ANSWER: A"], ["Mars"], ["answer: b"]],
    ),
}


def output(text):
    made = ModelOutput.from_content("mockllm/model", text)
    made.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # otherwise a tokenizer is fetched
    return made


parts = []
for name, (samples, answers) in PARTS.items():
    file = folder / f"{name}.jsonl"
    file.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    made = subprocess.run([sys.executable, str(here / "../../../examples/evaluation/from_inspect.py"), str(file), "--scorer", name], check=True, capture_output=True, text=True).stdout
    scorer = {"includes": includes, "match": match, "choice": choice}[name]()
    solver = multiple_choice() if name == "choice" else generate()
    outputs = {}
    for epoch, row in enumerate(answers, start=1):
        for sample, answer in zip(samples, row):
            outputs[(sample["id"], epoch)] = answer

    # Inspect runs samples at once: each epoch is an evaluation of its own, sample by sample.
    verdicts = []
    for epoch in range(1, len(answers) + 1):
        model = get_model("mockllm/model", custom_outputs=[output(outputs[(s["id"], epoch)]) for s in samples])
        log = run(Task(dataset=json_dataset(str(file)), solver=solver, scorer=scorer), model=model, max_samples=1, max_connections=1, display="none", log_dir=str(folder / "logs"))[0]
        assert log.status == "success", log.error
        verdicts.append([next(iter(next(s for s in log.samples if s.id == sample["id"]).scores.values())).value == "C" for sample in samples])

    # All epochs in one evaluation, for its statistics. A sample asks once in each epoch, in the order of epochs.
    @made_solver
    def scripted():
        async def solve(state, generate):
            state.output = output(outputs[(state.sample_id, state.epoch)])
            if state.choices:
                # As multiple_choice() marks the choice that was answered.
                found = re.search(r"(?i)ANSWER\s*:\s*([A-Za-z])\b", state.output.completion)
                for at in range(len(state.choices)):
                    state.choices.mark_choice(at, bool(found) and at == ord(found.group(1).upper()) - ord("A"))
            return state
        return solve

    log = run(Task(dataset=json_dataset(str(file)), solver=scripted(), scorer=scorer, epochs=len(answers)), model="mockllm/model", display="none", log_dir=str(folder / "logs"))[0]
    assert log.status == "success", log.error
    metrics = {key: metric.value for key, metric in log.results.scores[0].metrics.items()}
    parts.append({"scorer": name, "samples": samples, "cases": [json.loads(line) for line in made.splitlines()], "answers": answers, "verdicts": verdicts, "accuracy": metrics["accuracy"], "stderr": metrics["stderr"]})

print(json.dumps(parts, indent=1))
