"""The petstore on Flask: API_KEY=... flask --app flask_app run --port 8080"""
import os
import uuid
from datetime import datetime, timezone

from flask import Blueprint, Flask, abort, jsonify, request
from werkzeug.exceptions import HTTPException

STATUSES = ("available", "pending", "sold")
pets = {}
app = Flask(__name__)
v1 = Blueprint("v1", __name__, url_prefix="/v1")


@app.errorhandler(HTTPException)
def handle_error(e):
    return jsonify(code=e.name.lower().replace(" ", "_"), message=e.description, status=e.code), e.code


@v1.before_request
def check_key():
    if request.headers.get("Authorization") != f"Bearer {os.environ['API_KEY']}":
        abort(401, "Missing or invalid API key")


@v1.get("/pets")
def list_pets():
    limit = request.args.get("limit", 20, type=int)
    status = request.args.get("status")
    if not 1 <= limit <= 100:
        abort(400, "limit must be between 1 and 100")
    if status and status not in STATUSES:
        abort(400, "unknown status")
    found = [pet for pet in pets.values() if not status or pet["status"] == status]
    return jsonify(found[:limit])


@v1.post("/pets")
def create_pet():
    data = request.get_json()
    if not isinstance(data.get("name"), str) or not isinstance(data.get("categoryId"), int):
        abort(400, "name and categoryId are required")
    if data.get("status") is not None and data["status"] not in STATUSES:
        abort(400, "unknown status")
    pet = {
        "id": len(pets) + 1,
        "name": data["name"],
        "categoryId": data["categoryId"],
        "status": data.get("status"),
    }
    pets[pet["id"]] = pet
    return jsonify(pet), 201


@v1.get("/pets/<int:pet_id>")
def get_pet(pet_id):
    if pet_id not in pets:
        abort(404, "no such pet")
    return jsonify(pets[pet_id])


@v1.post("/messages")
def submit_message():
    data = request.get_json()
    if not isinstance(data.get("message"), str):
        abort(400, "message is required")
    created = datetime.now(timezone.utc).isoformat()
    return jsonify(id=str(uuid.uuid4()), message=data["message"], status="queued", createdAt=created), 202


app.register_blueprint(v1)
