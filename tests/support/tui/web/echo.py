"""A console that draws what it is sent, as it came; before, it asks for a link to be opened and a file to be handed out."""

import json
import os


def write(kind: bytes, body: bytes) -> None:
    os.write(1, kind + len(body).to_bytes(4, "big") + body)


if __name__ == "__main__":
    os.write(1, b"some words\n__GANGLION__\n")
    write(b"M", json.dumps({"type": "open_url", "url": "http://evil.example", "new_tab": True}).encode())
    delivery = {
        "key": "k",
        "path": "a.txt",
        "open_method": "browser",
        "mime_type": "text/html",
        "encoding": "",
    }
    write(b"M", json.dumps({"type": "deliver_file_start", **delivery}).encode())
    write(b"D", json.dumps({name: os.environ.get(name) for name in ("COLUMNS", "ROWS", "SECRET")}).encode())
    while data := os.read(0, 1 << 16):
        write(b"D", data)
