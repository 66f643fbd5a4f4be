"""The petstore on Python's http.server."""
import argparse
import json
import os
import re
import uuid
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

STATUSES = ("available", "pending", "sold")
pets = []


class Handler(BaseHTTPRequestHandler):
    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def fail(self, status, code, message):
        self.reply(status, {"code": code, "message": message, "status": status})

    def authorized(self):
        if self.headers.get("Authorization") == f"Bearer {os.environ['API_KEY']}":
            return True
        self.fail(401, "unauthorized", "missing or invalid API key")

    def do_GET(self):
        if not self.authorized():
            return
        url = urlsplit(self.path)
        if url.path == "/v1/pets":
            query = parse_qs(url.query)
            try:
                limit = int(query.get("limit", ["20"])[0])
            except ValueError:
                limit = 0
            status = query.get("status", [None])[0]
            if not 1 <= limit <= 100:
                return self.fail(400, "invalid", "limit must be between 1 and 100")
            if status is not None and status not in STATUSES:
                return self.fail(400, "invalid", "unknown status")
            found = [pet for pet in pets if status is None or pet.get("status") == status]
            return self.reply(200, found[:limit])
        if match := re.fullmatch(r"/v1/pets/(\d+)", url.path):
            for pet in pets:
                if pet["id"] == int(match[1]):
                    return self.reply(200, pet)
        self.fail(404, "not_found", "not found")

    def do_POST(self):
        if not self.authorized():
            return
        if self.path not in ("/v1/pets", "/v1/messages"):
            return self.fail(404, "not_found", "not found")
        try:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        except ValueError:
            return self.fail(400, "invalid", "the body is not valid JSON")
        if not isinstance(body, dict):
            return self.fail(400, "invalid", "the body must be an object")
        if self.path == "/v1/pets":
            if not isinstance(body.get("name"), str) or not isinstance(body.get("categoryId"), int):
                return self.fail(400, "invalid", "name and categoryId are required")
            if "status" in body and body["status"] not in STATUSES:
                return self.fail(400, "invalid", "unknown status")
            pet = {"id": len(pets) + 1, **{k: body[k] for k in ("name", "categoryId", "status") if k in body}}
            pets.append(pet)
            return self.reply(201, pet)
        if "Content-Type" not in self.headers or not isinstance(body.get("message"), str):
            return self.fail(400, "invalid", "message is required")
        created = datetime.now(timezone.utc).isoformat()
        self.reply(202, {"id": str(uuid.uuid4()), "message": body["message"], "status": "queued", "createdAt": created})


parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, default=8080)
ThreadingHTTPServer(("127.0.0.1", parser.parse_args().port), Handler).serve_forever()
