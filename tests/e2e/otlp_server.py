"""A server for tests that takes OTLP profiles over HTTP, and decodes them.

    with otlp_server() as server:
        run("push", profile, server.url)
    assert server.profiles()[0]["sums"]["samples"] == 1000
"""

import contextlib
import gzip
import http.server
import pathlib
import ssl
import struct
import threading

# A key for 127.0.0.1 and its certificate, which nobody but a test trusts.
CERTIFICATE = pathlib.Path(__file__).with_suffix(".pem")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """The fields of a protobuf message: number -> values."""
    at, found = 0, {}
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        else:
            assert tag & 7 == 2, tag
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
            assert len(value) == size
        found.setdefault(tag >> 3, []).append(value)
    return found


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value - (1 << 64) if value >> 63 else value)
    return values


def encode(number, value):
    """A field of a message: a whole number, or bytes."""

    def number_bytes(value):
        out = bytearray()
        while value > 127:
            out.append(value & 127 | 128)
            value >>= 7
        return bytes([*out, value])

    if isinstance(value, int):
        return number_bytes(number << 3) + number_bytes(value)
    return number_bytes(number << 3 | 2) + number_bytes(len(value)) + value


def attributes(messages, texts):
    """Keys and texts are in the message itself, as prof writes them, or in the dictionary, as the Collector does."""
    found = {}
    for message in map(fields, messages):
        value = fields(message[2][0])
        key = message[1][0].decode() if 1 in message else texts[message[3][0]]
        found[key] = value[3][0] if 3 in value else texts[value[8][0]] if 8 in value else value[1][0].decode()
    return found


class Message:
    """An ExportProfilesServiceRequest: its dictionary's texts, functions and stacks, and its profiles."""

    def __init__(self, data):
        message = fields(data)
        dictionary = fields(message[2][0])
        self.texts = [text.decode() for text in dictionary[5]]
        self.functions = [self.texts[fields(f).get(1, [0])[0]] for f in dictionary[3]]
        self.locations = [
            [self.functions[fields(line)[1][0]] for line in fields(location).get(3, [])]
            for location in dictionary[2]
        ]
        self.stacks = [
            tuple(name for i in packed(fields(stack).get(1, [b""])[0]) for name in self.locations[i])
            for stack in dictionary[7]
        ]
        self.profiles = []
        for resource in map(fields, message.get(1, [])):
            described = attributes(fields(resource[1][0]).get(1, []), self.texts)
            for scope in map(fields, resource[2]):
                for profile in map(fields, scope.get(2, [])):
                    self.profiles.append(self.read(described, profile))

    def read(self, described, profile):
        by_stack = {}
        for sample in map(fields, profile.get(2, [])):
            stack = self.stacks[sample[1][0]]
            by_stack[stack] = by_stack.get(stack, 0) + sum(packed(sample[4][0]))
        return {
            "resource": described,
            "type": self.texts[fields(profile[1][0])[1][0]],
            "start": profile[3][0],
            "length": profile[4][0],
            "id": profile[7][0],
            "stacks": by_stack,
            "total": sum(by_stack.values()),
        }


class Server:
    """`answers`: a list of what the next requests get, then 200: a status, or (status, headers, body)."""

    def __init__(self, port=0, secure=False):
        outer = self
        self.requests, self.answers, self.lock = [], [], threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with outer.lock:
                    answer = outer.answers.pop(0) if outer.answers else 200
                    status, headers, said = answer if isinstance(answer, tuple) else (answer, {}, b"")
                    outer.requests.append((self.path, dict(self.headers), body, status))
                self.send_response(status)
                for name, value in {"Content-Type": "application/x-protobuf", **headers}.items():
                    self.send_header(name, value)
                self.close_connection = "Content-Length" in headers  # it says more than there is
                if not self.close_connection:
                    self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                with contextlib.suppress(ConnectionError):  # prof has read enough
                    self.wfile.write(said)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.http.daemon_threads = True
        self.port = self.http.server_address[1]
        self.url = f"{'https' if secure else 'http'}://127.0.0.1:{self.port}"
        if secure:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATE)
            self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def messages(self):
        """Those that it took."""
        with self.lock:
            return [Message(gzip.decompress(body)) for _, _, body, status in self.requests if status == 200]

    def profiles(self):
        return [profile for message in self.messages() for profile in message.profiles]

    def totals(self):
        """Of each weight."""
        sums = {}
        for profile in self.profiles():
            sums[profile["type"]] = sums.get(profile["type"], 0) + profile["total"]
        return sums

    def close(self):
        self.http.shutdown()
        self.http.server_close()


@contextlib.contextmanager
def otlp_server(port=0, secure=False):
    server = Server(port, secure)
    try:
        yield server
    finally:
        server.close()
