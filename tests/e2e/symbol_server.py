"""Starts `prof load` and sends the requests of the Firefox Profiler to its symbol API.

    with served(profile) as server:
        server.symbolicate([["libc.so.6", "0123..."]], [[[0, 0x1234]]])
"""

import contextlib
import http.client
import json
import re
import signal
import subprocess

from tap import PROF


class Served:
    def __init__(self, path, *options, environment=None):
        self.process = subprocess.Popen([PROF, "load", "-n", "-P", "0", *options, path], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
        self.said, found = "", None
        while not found:
            line = self.process.stderr.readline()
            self.said += line
            assert line, self.said
            found = re.search(r"http://127\.0\.0\.1:(\d+)(/[0-9a-z]{24}/)", line)
        self.port, self.base = int(found[1]), found[2]

    def ask(self, name, body=None, method="POST", headers=None):
        """The response and its body."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, self.base + name, body=data, headers=headers or {})
            response = connection.getresponse()
            return response, response.read()

    def post(self, name, request):
        """The answer, and whether it is one: it comes with status 200 and as JSON also if it says why it is none."""
        response, body = self.ask(name, request)
        assert response.status == 200 and response.getheader("Content-Type") == "application/json", (response.status, body)
        answer = json.loads(body)
        assert "error" not in answer or (set(answer) == {"error"} and answer["error"]), answer
        return "error" not in answer, answer

    def symbolicate(self, modules, stacks):
        found, answer = self.post("symbolicate/v5", {"jobs": [{"memoryMap": modules, "stacks": stacks}]})
        assert found, answer
        (result,) = answer["results"]
        return result

    def source(self, library, offset, file):
        return self.post("source/v1", {"debugName": library[0], "debugId": library[1], "moduleOffset": offset,
                                       "file": file})

    def assembly(self, library, start, size, **more):
        return self.post("asm/v1", {"debugName": library[0], "debugId": library[1], "startAddress": hex(start),
                                    "size": hex(size), **more})

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=20)
        self.process.stderr.close()
        return self.process.returncode


@contextlib.contextmanager
def served(path, *options, environment=None):
    server = Served(path, *options, environment=environment)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.end()


