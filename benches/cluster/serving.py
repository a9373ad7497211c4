"""A saved model in Ray Serve: what clients get, beside a deployment that does nothing, and Ray's processor time for a request."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def processor_seconds() -> float:
    """The processor time so far of all processes that Ray Serve answers a request with: they are on this machine."""
    import psutil

    total = 0.0
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or [""]
        if words[0].startswith(("ray::ServeReplica", "ray::ProxyActor", "ray::HAProxyManager")) or Path(words[0]).name == "haproxy":
            try:
                times = process.cpu_times()
                total += times.user + times.system
            except psutil.Error:
                pass  # The process has ended.
    return total


def play(path: str, body: str, requests: int, clients: int) -> float:
    """The seconds of so many requests by clients that each keep a connection and send the next request when they have an answer."""

    def ask(count: int) -> None:
        client = http.client.HTTPConnection("127.0.0.1", 8000)
        for _ in range(count):
            client.request("POST", path, body)
            answer = client.getresponse()
            if not answer.read() or answer.status != 200:
                raise RuntimeError(f"status {answer.status}")
        client.close()

    begin = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(ask, [requests // clients] * clients))
    return time.perf_counter() - begin


def measured(x, y, quick: bool) -> dict:
    """One replica of a model of these rows, beside a deployment that does nothing: by Ray's own proxy or, where the environment has
    RAY_SERVE_ENABLE_HA_PROXY=1, by HAProxy."""
    from noregret import Learner
    from noregret.ray import RayEngine, deployment
    from noregret.ray._serve import Predictor
    from ray import serve as ray_serve

    class Nothing:
        async def __call__(self, request):
            from starlette.responses import Response

            await request.body()
            return Response(b"{}")

    RayEngine()
    count = 64 if quick else 160
    learner = Learner("folklore", features=10, classes=4, radius=5)
    learner.update(x, y)
    folder = tempfile.mkdtemp()
    model = str(Path(folder) / "model.safetensors")
    try:
        learner.save(model)
        nothing = ray_serve.deployment(Nothing, max_ongoing_requests=100, ray_actor_options={"num_cpus": 0.5})
        ray_serve.run(nothing.bind(), name="nothing", route_prefix="/nothing")
        ray_serve.run(deployment(model=model, cores=0.5), name="model", route_prefix="/model")
        one, many = (json.dumps({"x": rows}) for rows in (x[0].tolist(), x[:100].tolist()))
        kinds = [("/nothing", 1, one), ("/model", 1, one), ("/model", 100, many)]
        found = []
        for clients in (1, 16):
            cases = [{"path": path, "rows": rows, "clients": clients, "rates": [], "processor": 0.0} for path, rows, _ in kinds]
            # In turns, since other programs may have the machine for a while. The first requests find the processes.
            for turn in range(-1, 5):
                for case, (path, _, body) in zip(cases, kinds, strict=True):
                    busy = processor_seconds()
                    seconds = play(path, body, count, clients)
                    if turn >= 0:
                        case["rates"].append(count / seconds)
                        case["processor"] += (processor_seconds() - busy) / (5 * count)
            found += cases
        alone = Predictor(model)
        for case in found:
            given = json.loads(one if case["rows"] == 1 else many)["x"]
            begin = time.process_time()
            for _ in range(200):
                alone.predict(given)
            case["ours"] = (time.process_time() - begin) / 200
            print(case, flush=True)
    finally:
        ray_serve.shutdown()
        shutil.rmtree(folder)
    return {"haproxy" if os.environ.get("RAY_SERVE_ENABLE_HA_PROXY") == "1" else "proxy": {"cases": found, "load": os.getloadavg()[0]}}


def told(numbers: dict) -> list[str]:
    """The lines of the page."""
    text = [
        "## Ray Serve\n",
        "`cluster.py serve`: one replica of a saved model (`folklore`, 10 columns, 4 classes), beside a deployment that reads the request and",
        "answers `{}`, which is the most that Ray reaches on this machine at this time. Clients keep their connection and send a request when",
        "they have the last answer; the fastest of 5 runs, in turns with those of the others. Processor time is that of Ray's processes for a",
        "request, and of it the model's part, measured alone. HAProxy: `RAY_SERVE_ENABLE_HA_PROXY=1 cluster.py serve`. Other programs had the",
        f"machine, too: a load of {' and '.join(format(one['load'], '.1f') for one in numbers.values())} at the end, with 2 cores.\n",
        "| through | rows in a request | clients | requests a second | an empty deployment | predictions a second | processor time | an empty deployment | of which the model |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for by, name in (("proxy", "Ray's proxy"), ("haproxy", "HAProxy")):
        found = numbers.get(by, {}).get("cases", [])
        most = {one["clients"]: (max(one["rates"]), one["processor"]) for one in found if one["path"] == "/nothing"}
        for one in found:
            if one["path"] == "/model":
                rate = max(one["rates"])
                text.append(
                    f"| {name} | {one['rows']} | {one['clients']} | {rate:,.0f} | {most[one['clients']][0]:,.0f} | {one['rows'] * rate:,.0f} | "
                    f"{1e3 * one['processor']:.1f} ms | {1e3 * most[one['clients']][1]:.1f} ms | {1e3 * one['ours']:.2f} ms |"
                )
    return [*text, ""]
