"""A test of a controller in Python, in a fresh cluster whose clock it owns. In a shell:

    npx kubewright serve --speed manual --start 2030-01-01T00:00:00Z --kubeconfig kubeconfig

and once that has said "kubewright is ready": python3 python.py kubeconfig

Needs the package kubernetes (Debian: python3-kubernetes).
"""

import json
import sys
import urllib.request

from kubernetes import client, config, watch

config.load_kube_config(sys.argv[1])
batch, core = client.BatchV1Api(), client.CoreV1Api()


def post(path, body):
    """POST to a path of the server's own: reset, snapshot, clock/advance."""
    server = client.Configuration.get_default_copy().host
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{server}/_kubewright/{path}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def job(name, duration):
    annotations = {"sim.kubewright.dev/duration": duration}
    container = client.V1Container(name="main", image="busybox")
    spec = client.V1PodSpec(restart_policy="Never", containers=[container])
    template = client.V1PodTemplateSpec(metadata=client.V1ObjectMeta(annotations=annotations), spec=spec)
    return client.V1Job(metadata=client.V1ObjectMeta(name=name), spec=client.V1JobSpec(template=template))


for duration in ("10m", "2h"):
    version = post("reset", {})["resourceVersion"]
    batch.create_namespaced_job("default", job("report", duration))
    now = post("clock/advance", {"seconds": 3600, "settleMs": 20})["now"]
    status = batch.read_namespaced_job("report", "default").status
    print(f"{duration}: succeeded {status.succeeded}, active {status.active} at {now}")
    changes = watch.Watch().stream(
        batch.list_namespaced_job, "default", resource_version=version, timeout_seconds=1
    )
    print("watched:", next(iter(changes))["type"])
