"""As much of Kubernetes' API as scaling takes: real HTTP, real optimistic locking, and faults on demand.

It keeps Kubernetes' habits that matter here: a Scale without replicas leaves ``spec.replicas`` out, every change makes
a new ``resourceVersion``, a PUT with an old one conflicts, errors are ``Status`` documents.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from ssl import SSLContext
from typing import Any

import yaml
from aiohttp import web

Fault = web.StreamResponse | Exception | float
"""An answer to give in place of the true one, an error to raise, or seconds to keep silent."""

KINDS = {
    ("apps/v1", "deployments"): "Deployment",
    ("apps/v1", "statefulsets"): "StatefulSet",
    ("apps/v1", "replicasets"): "ReplicaSet",
    ("v1", "replicationcontrollers"): "ReplicationController",
    ("example.com/v1alpha1", "workerpools"): "WorkerPool",
}


@dataclass
class Scaled:
    """An object with replicas."""

    name: str
    replicas: int
    running: int
    version: int = 100
    uid: str = "0b8e7c1e-1111-4000-8000-000000000001"

    def change(self, replicas: int) -> None:
        self.replicas = replicas
        self.version += 1


@dataclass
class ScaleApi:
    """The server.

    Attributes:
        url: Where it listens.
        objects: What there is, by ``version/namespace/plural/name``.
        seen: Every request for a Scale: its method and body.
        faults: What happens instead, by method; the first of a list is used up with each request.
        on_read: Called after each GET of a Scale was answered: somebody else's chance.
        on_whole: The same for the objects themselves.
        tokens: The bearer tokens that are let in; all where there is none.
        twist: Changes a Scale before it is sent, as a liar would.
    """

    url: str = ""
    objects: dict[str, Scaled] = field(default_factory=dict)
    seen: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    faults: dict[str, list[Fault]] = field(default_factory=dict)
    on_read: Callable[[], None] = lambda: None
    on_whole: Callable[[], None] = lambda: None
    tokens: set[str] = field(default_factory=set)
    twist: Callable[[dict[str, Any]], object] = lambda document: document

    def add(
        self, name: str = "billing", replicas: int = 3, plural: str = "deployments", version: str = "apps/v1"
    ) -> Scaled:
        scaled = Scaled(name, replicas, replicas)
        self.objects[f"{version}/shop/{plural}/{name}"] = scaled
        return scaled

    def methods(self) -> list[str]:
        return [method for method, _ in self.seen]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if (
            self.tokens
            and request.headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens
        ):
            return status(401, "Unauthorized", "Unauthorized")
        parts = request.path.strip("/").split("/")
        parts = parts[1:]  # api or apis
        if len(parts) <= 2 and "namespaces" not in parts:
            return discovery(request.path)
        at = parts.index("namespaces")
        version, namespace = "/".join(parts[:at]), parts[at + 1]
        plural, name, *rest = parts[at + 2 :]
        scaled = self.objects.get(f"{version}/{namespace}/{plural}/{name}")
        if (version, plural) not in KINDS:
            return status(404, "NotFound", "the server could not find the requested resource")
        if scaled is None:
            group = f"{plural}.{version.rpartition('/')[0]}".rstrip(".")
            return status(404, "NotFound", f'{group} "{name}" not found', name=name)
        if rest != ["scale"]:
            document = whole(scaled, version, KINDS[version, plural], namespace)
            self.on_whole()
            return web.json_response(document)
        return await self._scale(request, scaled, namespace)

    async def _scale(self, request: web.Request, scaled: Scaled, namespace: str) -> web.StreamResponse:
        body: dict[str, Any] = await request.json() if request.can_read_body else {}
        self.seen.append((request.method, body))
        if waiting := self.faults.get(request.method):
            return await play(waiting.pop(0))
        if request.method == "PUT":
            asked = body["metadata"].get("resourceVersion")
            if asked is not None and asked != str(scaled.version):
                text = "the object has been modified; please apply your changes to the latest version"
                return status(409, "Conflict", f'Operation cannot be fulfilled on "{scaled.name}": {text}')
            scaled.change(body["spec"].get("replicas", 0))
        document = self.twist(scale(scaled, namespace))
        if request.method == "GET":
            self.on_read()
        return web.json_response(document)


def scale(scaled: Scaled, namespace: str) -> dict[str, Any]:
    spec = {"replicas": scaled.replicas} if scaled.replicas else {}
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {
            "name": scaled.name,
            "namespace": namespace,
            "uid": scaled.uid,
            "resourceVersion": str(scaled.version),
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": spec,
        "status": {"replicas": scaled.running, "selector": f"app={scaled.name}"},
    }


def whole(scaled: Scaled, version: str, kind: str, namespace: str) -> dict[str, Any]:
    labels = {"app": scaled.name}
    return {
        **scale(scaled, namespace),
        "kind": kind,
        "apiVersion": version,
        "spec": {
            "replicas": scaled.replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "worker", "image": "worker"}]},
            },
        },
        "status": {"replicas": scaled.running, "readyReplicas": scaled.running},
    }


def status(code: int, reason: str, message: str, *, name: str = "", **headers: str) -> web.Response:
    details = {"name": name, "kind": "deployments"} if name else {}
    return web.json_response(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "message": message,
            "reason": reason,
            "details": details,
            "code": code,
        },
        status=code,
        headers={key.replace("_", "-"): value for key, value in headers.items()},
    )


async def play(fault: Fault) -> web.StreamResponse:
    if isinstance(fault, Exception):
        raise fault
    if isinstance(fault, float):
        await asyncio.sleep(fault)
        return web.Response()
    return fault


def discovery(path: str) -> web.Response:
    """What ``kubectl`` asks before it does anything: which groups there are, and what is in them."""
    versions = {
        "groupVersion": "apps/v1",
        "version": "v1",
    }
    documents: dict[str, dict[str, Any]] = {
        "/api": {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []},
        "/apis": {
            "kind": "APIGroupList",
            "apiVersion": "v1",
            "groups": [{"name": "apps", "versions": [versions], "preferredVersion": versions}],
        },
        "/api/v1": {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "v1", "resources": []},
        "/apis/apps/v1": {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": "apps/v1",
            "resources": [
                {
                    "name": "deployments",
                    "singularName": "deployment",
                    "namespaced": True,
                    "kind": "Deployment",
                    "verbs": ["get", "list", "patch", "update"],
                },
                {
                    "name": "deployments/scale",
                    "singularName": "",
                    "namespaced": True,
                    "group": "autoscaling",
                    "version": "v1",
                    "kind": "Scale",
                    "verbs": ["get", "patch", "update"],
                },
            ],
        },
    }
    if path.rstrip("/") in documents:
        return web.json_response(documents[path.rstrip("/")])
    return status(404, "NotFound", "the server could not find the requested resource")


def write_kubeconfig(
    path: Path,
    url: str,
    *,
    namespace: str = "shop",
    context: str = "main",
    user: dict[str, Any] | None = None,
) -> Path:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": context,
        "clusters": [{"name": "fake", "cluster": {"server": url}}],
        "contexts": [{"name": context, "context": {"cluster": "fake", "user": "me", "namespace": namespace}}],
        "users": [{"name": "me", "user": user or {}}],
    }
    path.write_text(yaml.safe_dump(config))
    return path


@asynccontextmanager
async def running_api(ssl: SSLContext | None = None) -> AsyncIterator[ScaleApi]:
    """The server, on a loopback port that the kernel chose."""
    api = ScaleApi()
    async with serving(api.handle, ssl) as url:
        api.url = url
        yield api


@asynccontextmanager
async def serving(
    handle: Callable[[web.Request], Awaitable[web.StreamResponse]], ssl: SSLContext | None = None
) -> AsyncIterator[str]:
    """Whatever handles all requests, over HTTP or TLS; its address."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=ssl)
        await site.start()
        host, port = runner.addresses[0][:2]
        yield f"{'https' if ssl else 'http'}://{host}:{port}"
    finally:
        await runner.cleanup()
