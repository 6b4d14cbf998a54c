# streamops: the exporter unless another command is given. Build it from the root of the repository:
#   docker build --tag streamops:0.1.0 .
# The base is pinned by its version's tag; `make pin-images` adds its digest, by which a tag cannot be given to another.

FROM python:3.12.11-slim-bookworm AS build
WORKDIR /source
RUN python -m venv /opt/streamops
COPY requirements-image.lock ./
RUN /opt/streamops/bin/pip install --no-cache-dir --require-hashes --requirement requirements-image.lock
COPY pyproject.toml README.md LICENSE ./
COPY streamops ./streamops
COPY dashboards ./dashboards
RUN /opt/streamops/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.12.11-slim-bookworm
COPY --from=build /opt/streamops /opt/streamops
ENV PATH=/opt/streamops/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOME=/tmp
# A user of no name: nothing in the image belongs to it, and its root file system may be read-only.
USER 10001:10001
WORKDIR /tmp
EXPOSE 9641
ENTRYPOINT ["streamops"]
CMD ["exporter", "--listen", "0.0.0.0:9641"]
