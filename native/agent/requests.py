"""Answers the launcher's requests."""

import json
import time


def waits(text):
    """Whether it is to be answered at the end of a training step."""
    try:
        return json.loads(text).get("at") == "step"
    except (ValueError, AttributeError):
        return False


def answer(text):
    """Answers one request; whatever goes wrong with it is its answer."""
    number, sequence = 0, natives["sequence"]()
    begun = time.perf_counter()
    try:
        request = json.loads(text)
        number = int(request["id"])
        answer = dispatch(request)
    except Exception as error:
        answer = {"ok": False, "error": "%s: %s" % (type(error).__name__, error)}
    if "tookMs" in answer:  # with the parts that were loaded for it
        answer["tookMs"] = (time.perf_counter() - begun) * 1000
    natives["answer"](number, json.dumps(dict({"request": number}, **answer)), sequence)


def dispatch(request):
    what = request["do"]
    if what == "holders":
        return load("holders").answer(request)
    return {"ok": False, "error": "The agent knows no request %r." % what}
