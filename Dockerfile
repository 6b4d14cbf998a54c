# streamops: the exporter unless another command is given. Build it from the root of the repository:
#   docker build --tag streamops:0.1.0 .
# The base is pinned by digest, so that its tag cannot be given to another image; `make pin-images` writes those of today.
# Another base with python and pip: --build-arg BASE=...

ARG BASE=python:3.12.11-slim-bookworm@sha256:519591d6871b7bc437060736b9f7456b8731f1499a57e22e6c285135ae657bf7
FROM ${BASE} AS build
WORKDIR /source
RUN python -m venv /opt/streamops
COPY pyproject.toml uv.lock README.md LICENSE ./
RUN pip install --no-cache-dir uv==0.13.9 \
 && uv export --quiet --frozen --no-emit-project --no-dev --group build-backend --extra fast --extra notify --extra keda \
    --extra kubernetes --output-file requirements.txt \
 && /opt/streamops/bin/pip install --no-cache-dir --no-deps --require-hashes --requirement requirements.txt
COPY streamops ./streamops
COPY dashboards ./dashboards
RUN /opt/streamops/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM ${BASE}
COPY --from=build /opt/streamops /opt/streamops
ENV PATH=/opt/streamops/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOME=/tmp
# A user of no name: nothing in the image belongs to it, and its root file system may be read-only.
USER 10001:10001
WORKDIR /tmp
EXPOSE 9641
ENTRYPOINT ["streamops"]
CMD ["exporter", "--listen", "0.0.0.0:9641"]
