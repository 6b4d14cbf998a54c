from streamops.autoscaling.keda.http import HttpOptions
from streamops.autoscaling.keda.server import GrpcOptions
from streamops.cli.commands.run import run
from streamops.main.browser import LISTEN
from streamops.main.keda import keda
from streamops.settings.tables import DEFAULT_LISTEN, IngestTable


def test_commands_that_listen_have_a_port_each() -> None:
    (metrics,) = {line.rpartition(":")[2] for line, _ in run.examples if "--metrics" in line}
    (grpc,) = (str(param.default) for param in keda.params if param.name == "listen")
    listening = [LISTEN, DEFAULT_LISTEN, IngestTable().listen, grpc, f":{metrics}", f":{HttpOptions().port}"]
    ports = [int(address.rpartition(":")[2]) for address in listening]
    assert len(set(ports)) == len(ports)
    assert GrpcOptions().port == int(grpc.rpartition(":")[2])
