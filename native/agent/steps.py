"""What the agent does by itself at the end of some training steps: names, and surveys where the launcher requested them."""

import json
import time

NEVER = (1 << 64) - 1
FIRST_SURVEY = 8
SHARE = 0.002  # of the program's time may go into names
FIRST_STEP_MS = 20  # as long as it is not known what a step takes
plan = {"names": 1, "survey": NEVER, "settings": None, "bytes": None, "looked": None, "looked_step": 0}


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
    """Gives the number of the step at which the next call is due."""
    named = step >= plan["names"]
    if named:
        plan["names"] = NEVER  # whatever happens in it, it is not tried at once again
        took = load("names").write()
        # At the end of the first step only one of several optimizers may have its state.
        plan["names"] = 2 if step == 1 else step + max(1 + step // 4, steps_to_pay(took, step))
    if step >= plan["survey"]:
        plan["survey"] = max(2 * step, FIRST_SURVEY)
        if grows(step):
            if not named:
                load("names").write()
            load("survey").answer(plan["settings"], "step", step)
    return next_step()


def steps_to_pay(took, step):
    """After how many steps `took` milliseconds are less than one a step, and less than SHARE of the time."""
    now, since, last = time.perf_counter(), plan["looked"], plan["looked_step"]
    plan["looked"], plan["looked_step"] = now, step
    each = (now - since) * 1000 / (step - last) if since is not None and step > last else FIRST_STEP_MS
    return int(took / min(1.0, max(each, 0.01) * SHARE)) + 1


def grows(step):
    """Whether more bytes are in tensors than at the last look."""
    now = load("tensors").allocator_figures("allocated_bytes")
    before, plan["bytes"] = plan["bytes"], now
    return step > FIRST_SURVEY and (now is None or any(each > known for each, known in zip(now, before or [[0]] * len(now))))


def at_exit():
    if plan["settings"] is not None:
        load("names").write()  # of what came since: a model that is built up is no leak
        load("survey").answer(plan["settings"], "exit", 0)
