"""A Carillon worker on plain Python. CARILLON_URL and CARILLON_TOKEN say where and who."""
import json, os, threading, time, urllib.error, urllib.request

URL, TOKEN, LEASE = os.environ["CARILLON_URL"], os.environ["CARILLON_TOKEN"], 15

def post(path, body, wait=0):
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=10 + wait) as answer:
        return json.load(answer)

def work(payload):  # yours: what it returns is the result, what it raises is the failure
    return {"length": len(payload["text"])}

def perform(task):
    def tell(verb, **more):
        post(f"/api/v1/tasks/{task['id']}/{verb}", {"lease_token": task["lease_token"], **more})

    def beat():  # until the work is over, three times as often as the lease ends
        while not over.wait(LEASE / 3):
            tell("heartbeat", lease_seconds=LEASE)

    over = threading.Event()
    threading.Thread(target=beat, daemon=True).start()
    try:
        done = ("complete", {"result": work(task["payload"])})
    except Exception as error:
        done = ("fail", {"error": {"message": repr(error)}})
    over.set()
    tell(done[0], **done[1])

while True:
    ask = {"worker": f"python-{os.getpid()}", "wait_seconds": 20, "lease_seconds": LEASE}
    try:
        for task in post("/api/v1/tasks/claim", ask, wait=20)["tasks"]:
            perform(task)
    except (urllib.error.URLError, TimeoutError) as error:  # away, or 409: someone else has it
        print(error, flush=True)
        time.sleep(1)
