"""The petstore on FastAPI: API_KEY=... uvicorn fastapi_app:app --port 8080"""
import os
import uuid
from datetime import datetime, timezone
from enum import Enum
from typing import Optional

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Query
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel
from starlette.exceptions import HTTPException as StarletteHTTPException


class PetStatus(str, Enum):
    available = "available"
    pending = "pending"
    sold = "sold"


class NewPet(BaseModel):
    name: str
    categoryId: int
    status: Optional[PetStatus] = None


class Pet(NewPet):
    id: int


class NewMessage(BaseModel):
    message: str


class Message(NewMessage):
    id: str
    status: str = "queued"
    createdAt: datetime


def check_key(credentials: HTTPAuthorizationCredentials = Depends(HTTPBearer(auto_error=False))):
    if credentials is None or credentials.credentials != os.environ["API_KEY"]:
        raise HTTPException(401, "Missing or invalid API key")


app = FastAPI(title="Animal Store")
v1 = APIRouter(prefix="/v1", dependencies=[Depends(check_key)])
pets: list[Pet] = []


@app.exception_handler(StarletteHTTPException)
async def http_error(request, exc):
    return JSONResponse({"code": "error", "message": exc.detail, "status": exc.status_code}, exc.status_code)


@app.exception_handler(RequestValidationError)
async def validation_error(request, exc):
    return JSONResponse({"code": "invalid", "message": str(exc), "status": 400}, 400)


@v1.get("/pets", response_model=list[Pet])
async def list_pets(limit: int = Query(20, ge=1, le=100), status: Optional[PetStatus] = None):
    return [pet for pet in pets if status is None or pet.status == status][:limit]


@v1.post("/pets", response_model=Pet, status_code=201)
async def create_pet(new_pet: NewPet):
    pet = Pet(id=len(pets) + 1, **new_pet.dict())
    pets.append(pet)
    return pet


@v1.get("/pets/{pet_id}", response_model=Pet, deprecated=True)
async def get_pet(pet_id: int):
    for pet in pets:
        if pet.id == pet_id:
            return pet
    raise HTTPException(404, "No pet with that id")


@v1.post("/messages", response_model=Message, status_code=202)
async def submit_message(new_message: NewMessage):
    return Message(id=str(uuid.uuid4()), message=new_message.message, createdAt=datetime.now(timezone.utc))


app.include_router(v1)
