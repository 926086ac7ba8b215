"""Drives `toolbay run`: turns over lines of JSON. See host/PROTOCOL.md."""
import json
import subprocess
import threading


class Toolbay:
    def __init__(self, command=("toolbay", "run"), on_permission=None, on_event=None):
        """on_permission(request) answers True or False; on_event(event) sees every line."""
        self.on_permission = on_permission or (lambda request: False)
        self.on_event = on_event or (lambda event: None)
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", bufsize=1
        )
        self.lock = threading.Lock()
        self.ready = self._next()

    def add(self, block_id, name, tool_input):
        """A call that the model has made; it starts at once."""
        self._send({"type": "tool_use", "id": block_id, "name": name, "input": tool_input})

    def interrupt(self):
        """The person wants it to stop. May be called from another thread."""
        self._send({"type": "interrupt"})

    def end_turn(self):
        """The model has made its last call: waits for all results, in call order."""
        self._send({"type": "turn_end"})
        return self.results()

    def results(self):
        found = []
        while (event := self._next())["type"] != "turn_end":
            if event["type"] == "tool_result":
                found.append(event)
        return found

    def close(self):
        self.process.stdin.close()
        return self.process.wait()

    def _send(self, line):
        with self.lock:
            self.process.stdin.write(json.dumps(line) + "\n")
            self.process.stdin.flush()

    def _next(self):
        line = self.process.stdout.readline()
        if not line:
            raise EOFError("toolbay has ended")
        event = json.loads(line)
        self.on_event(event)
        if event["type"] == "permission_request":
            behavior = "allow" if self.on_permission(event) else "deny"
            answer = {"type": "permission_response", "request_id": event["request_id"], "behavior": behavior}
            self._send(answer)
        return event
