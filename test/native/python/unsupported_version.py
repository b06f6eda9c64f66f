"""An unsupported version: no stack, and a sentence that names the version and the range."""

import sys

import probe

answer = probe.without_gil.probe_discover()
reason = probe.without_gil.probe_reason().decode()
print("  refused: " + reason)
version = "%d.%d.%d" % sys.version_info[:3]
assert answer == probe.UNSUPPORTED, answer
assert version in reason and "3.9 to 3.14" in reason, reason
assert probe.without_gil.probe_hash() == 0
assert probe.without_gil.probe_version() == sys.hexversion
