"""The server of `behind.py` over HTTPS: says its port, and serves until it is ended."""

import http.server
import json
import ssl

import behind


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def say(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.say(405)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in message:
            return self.say(202)
        try:
            told = {"result": behind.answer(message["method"], message.get("params") or {})}
        except behind.Wrong as wrong:
            told = {"error": {"code": wrong.code, "message": str(wrong)}}
        self.say(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], **told}).encode())


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
