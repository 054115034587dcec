"""The protocol of docs/client.md in Python; put your own database where `records` is."""

import json
import sys

records = {}  # key -> (writer, sequence, value)


def read(request):
    record = records.get(request["key"])
    return {"end": "ok", "value": record[2] if record else None}


def write(request):
    record, expect = records.get(request["key"]), request.get("expect")
    if expect and expect.get("missing"):
        fits = record is None
    elif expect:
        fits = record and record[0] == request["writer"]
        fits = fits and expect["first"] <= record[1] <= expect["last"]
    else:
        fits = True
    if not fits:
        return {"end": "refused", "value": record[2] if record else None}
    records[request["key"]] = request["writer"], request["sequence"], request["value"]
    return {"end": "ok"}


for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "close":
        break
    if request["do"] == "open":
        answer = {"opened": "reference in Python", "settings": {}}
    else:
        answer = {"id": request["id"], **{"read": read, "write": write}[request["do"]](request)}
    print(json.dumps(answer), flush=True)
