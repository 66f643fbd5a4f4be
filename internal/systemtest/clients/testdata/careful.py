"""A careful client with requests: urllib3 repeats a creation with the same Idempotency-Key,
and waits as long as Retry-After says. It does the job of ../npm/job.mjs."""
import os
import urllib.parse
import uuid

import requests
import urllib3

BASE = os.environ["PETSTORE_URL"]
session = requests.Session()
session.headers["Authorization"] = "Bearer " + os.environ["PETSTORE_KEY"]
retry = urllib3.Retry(total=6, backoff_factor=0.02, allowed_methods=None, status_forcelist=[429, 500, 502, 503, 504])
session.mount("http://", requests.adapters.HTTPAdapter(max_retries=retry))


def call(method, url, **options):
    for left in range(5, -1, -1):
        try:
            response = session.request(method, url, timeout=10, **options)
            response.raise_for_status()
            return response
        except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError):
            if left == 0:
                raise


def create(path, body):
    return call("POST", BASE + path, json=body, headers={"Idempotency-Key": str(uuid.uuid4())}).json()


pets = [create("/pets", {"name": f"pet {i}", "categoryId": i}) for i in range(30)]
url = BASE + "/pets?limit=10"
while url:
    response = call("GET", url)
    url = response.links.get("next", {}).get("url")
    if url:  # at this server, wherever the link leads
        url = BASE + "/pets?" + urllib.parse.urlsplit(urllib.parse.urljoin(response.url, url)).query
for pet in pets:
    call("GET", f"{BASE}/pets/{pet['id']}")
for i in range(3):
    create("/messages", {"message": f"message {i}"})
