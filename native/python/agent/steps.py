"""What the agent does by itself at the end of some training steps: names, and surveys where the launcher asked for them."""

import json

NEVER = (1 << 64) - 1
FIRST_SURVEY = 8
plan = {"names": 1, "survey": NEVER, "settings": None, "bytes": {}}


def read_settings():
    """The launcher's wish for surveys: `at-exit.json` in the trace directory; None: there is none."""
    text = natives["file"]("at-exit.json")
    try:
        settings = json.loads(text) if text is not None else None
    except ValueError:
        settings = None
    plan["settings"] = settings if type(settings) is dict else None
    if plan["settings"] is not None and plan["settings"].get("steps"):
        plan["survey"] = FIRST_SURVEY


def next_step():
    return min(plan["names"], plan["survey"])


def at_step(step):
    """Gives the number of the step at which it wants to be called again."""
    if step >= plan["names"]:
        plan["names"] = NEVER  # whatever happens in it, it is not tried at once again
        took = load("names").write()
        plan["names"] = max(2 * step, step + int(took) + 1)  # on average below a millisecond a step
    if step >= plan["survey"]:
        plan["survey"] = max(2 * step, FIRST_SURVEY)
        if grows(step):
            load("survey").answer(plan["settings"], "step", step)
    return next_step()


def grows(step):
    """Whether more bytes are in tensors than at the last look."""
    now = load("tensors").allocated_bytes()
    before, plan["bytes"] = plan["bytes"], now
    return step > FIRST_SURVEY and (now is None or any(now[each] > before.get(each, 0) for each in now))


def at_exit():
    if plan["settings"] is not None:
        load("survey").answer(plan["settings"], "exit", 0)
