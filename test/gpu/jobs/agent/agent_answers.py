"""What the agent wrote to the logs in a folder, as JSON."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "native", "agent"))
from agent_log import *  # noqa: E402, F403

(log,) = agent_logs(sys.argv[1])
print(
    json.dumps(
        {
            "answers": log.answers,
            "names": {hex(at): name for at, name in log.names.items()},
            "blocks": {hex(at): facts for at, facts in log.blocks.items()},
            "memory": log.memory,
            "steps": log.marks(GMT_STEP),
            "notes": [text for code, text in log.notes if code == GMT_NOTE_AGENT],
            "lost": log.lost,
        }
    )
)
