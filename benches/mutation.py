"""Mutation testing of the pure modules of gate and inventory: which small changes do the tests not notice?

``make mutation`` writes docs/quality/mutation.md. Every mutant is one change of the syntax tree of one module; a forked
process loads it in place of the module and runs the tests that are to notice (R. A. DeMillo, R. J. Lipton and F. G.
Sayward, "Hints on test data selection", Computer 11, 1978). Forks start where the heavy libraries are already imported.

Usage: mutation.py [--check] [MODULE ...]. With --check nothing is written, and a killed share below 85 % is an error.
"""

from __future__ import annotations

import ast
import copy
import importlib.abc
import importlib.util
import os
import resource
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from importlib.machinery import ModuleSpec
    from types import ModuleType

ROOT: Final = Path(__file__).parent.parent
REPORT: Final = ROOT / "docs" / "quality" / "mutation.md"
MODULES: Final = {
    "nclue_build.gate.check": ("tests/unit/gate", "tests/property/test_gate_laws.py"),
    "nclue_build.gate.explain": ("tests/unit/gate", "tests/property/test_gate_laws.py"),
    "nclue_build.gate.outcome": ("tests/unit/gate", "tests/property/test_gate_laws.py"),
    "nclue_build.inventory.table": ("tests/unit/inventory", "tests/property/test_inventory_laws.py"),
}
MIN_KILLED_PERCENT: Final = 85
CPU_LIMIT_S: Final = 120
"""An endless loop is noticed; processor time does not depend on what else the machine does."""
TIMEOUT_S: Final = 1800
WORKERS: Final = 2

Place = tuple[str | int, ...]
"""The way from a module to a node: fields and positions."""

COMPARED: Final[dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
CALCULATED: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}


@dataclass(frozen=True)
class Mutant:
    """One change: where it is, and the statement before and after it."""

    module: str
    line: int
    before: str
    after: str
    source: str


def places(node: ast.AST, way: Place = ()) -> Iterator[tuple[Place, ast.AST]]:
    """Every node that is executed: no annotations, no documentation, nothing for type checkers alone."""
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    yield way, node
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "returns", "decorator_list", "type_params", "ctx"}:
            continue
        if isinstance(value, ast.AST):
            yield from places(value, (*way, field))
        elif isinstance(value, list):
            for index, part in enumerate(value):
                if isinstance(part, ast.AST):
                    yield from places(part, (*way, field, index))


def changes(node: ast.AST) -> Iterator[ast.AST]:  # noqa: C901 - a case per kind of node
    """What may stand in place of a node."""
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            for other in COMPARED[type(operator)]:
                changed = copy.deepcopy(node)
                changed.ops[index] = other()
                yield changed
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in CALCULATED:
        calculated = copy.deepcopy(node)
        calculated.op = CALCULATED[type(node.op)]()
        yield calculated
    elif isinstance(node, ast.BoolOp):
        joined = copy.deepcopy(node)
        joined.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield joined
    elif isinstance(node, ast.UnaryOp):
        yield copy.deepcopy(node.operand)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.If | ast.IfExp):
        negated = copy.deepcopy(node)
        negated.test = ast.UnaryOp(ast.Not(), negated.test)
        yield negated
    elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield ast.Return(ast.Constant(None))
    elif isinstance(node, ast.Break):
        yield ast.Continue()
    elif isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        yield ast.Pass()


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def mutants_of(module: str) -> Iterator[Mutant]:
    """Every mutant of a module, in the order of its source."""
    tree = ast.parse(path_of(module).read_text("utf-8"))
    for way, node in places(tree):
        for changed in changes(node):
            mutated = copy.deepcopy(tree)
            if not way:
                continue
            holder = _follow(mutated, way[:-1])
            if isinstance(holder, list):
                holder[int(way[-1])] = changed
            else:
                setattr(holder, str(way[-1]), changed)
            before, after = (_statement(part, way) for part in (tree, mutated))
            source = ast.unparse(ast.fix_missing_locations(mutated))
            yield Mutant(module, getattr(node, "lineno", 0), before, after, source)


def _follow(tree: ast.AST, way: Place) -> object:
    found: object = tree
    for step in way:
        found = found[step] if isinstance(found, list) and isinstance(step, int) else getattr(found, str(step))
    return found


def _statement(tree: ast.AST, way: Place) -> str:
    """The innermost statement on the way, its first line alone where it has a body."""
    inner: ast.AST = tree
    for end in range(len(way) + 1):
        found = _follow(tree, way[:end])
        if isinstance(found, ast.stmt):
            inner = found
    text = ast.unparse(ast.fix_missing_locations(inner))
    return text.splitlines()[0] if hasattr(inner, "body") else " ".join(text.split())


def path_of(module: str) -> Path:
    """File of a module of the package."""
    return ROOT.joinpath(*module.split(".")).with_suffix(".py")


class InPlace(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from a given source."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The module, if it is the one."""
        del path, target
        return importlib.util.spec_from_loader(name, self) if name == self._mutant.module else None

    def exec_module(self, module: ModuleType) -> None:
        """Run the mutated source."""
        exec(compile(self._mutant.source, str(path_of(self._mutant.module)), "exec"), module.__dict__)  # noqa: S102 - that is the idea


def run_tests(mutant: Mutant, tests: tuple[str, ...]) -> int:
    """In the forked process: 1 where a test notices."""
    import pytest  # noqa: PLC0415 - imported before the fork
    from hypothesis import Phase, settings  # noqa: PLC0415

    # A counterexample is enough, it need not be the smallest.
    settings.register_profile("mutation", max_examples=60, deadline=None, derandomize=True, database=None,
                              phases=[Phase.explicit, Phase.generate])  # fmt: skip
    settings.load_profile("mutation")
    sys.meta_path.insert(0, InPlace(mutant))
    rewrite = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"
    words = ["-W", rewrite, "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--tb=no"]
    return int(pytest.main([*words, *(str(ROOT / test) for test in tests)]) != 0)


def start(mutant: Mutant, tests: tuple[str, ...]) -> int:
    """Fork a process that runs the tests; gives its number."""
    process = os.fork()
    if process == 0:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT_S, CPU_LIMIT_S))
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        status = 1
        try:
            status = run_tests(mutant, tests)
        finally:
            os._exit(status)
    return process


def run_all(mutants: list[Mutant], tell: Callable[[str], None]) -> list[Mutant]:
    """Run the tests against every mutant; gives those that no test notices, in order."""
    survivors: list[Mutant] = []
    running: dict[int, tuple[Mutant, float]] = {}
    waiting = list(reversed(mutants))
    n_done = 0
    while waiting or running:
        while waiting and len(running) < WORKERS:
            mutant = waiting.pop()
            running[start(mutant, MODULES[mutant.module])] = (mutant, time.monotonic())
        process, status = os.waitpid(-1, os.WNOHANG)
        if process:
            mutant, _ = running.pop(process)
            n_done += 1
            if os.waitstatus_to_exitcode(status) == 0:
                survivors.append(mutant)
                tell(f"{n_done}/{len(mutants)} survives: {mutant.module}:{mutant.line}: {mutant.after}")
            continue
        for process, (_, began) in running.items():
            if time.monotonic() - began > TIMEOUT_S:  # so is waiting for ever
                os.killpg(process, signal.SIGKILL)
        time.sleep(0.02)
    return sorted(survivors, key=mutants.index)


def report(mutants: list[Mutant], survivors: list[Mutant]) -> str:
    """The page of the documentation."""
    total, alive = (Counter(mutant.module for mutant in part) for part in (mutants, survivors))
    lines = [
        "# Mutation testing", "",
        "Made by `make mutation`. A mutant is one small change (a comparison, an operator, a constant, a condition, a",
        "result, a call left out) of one module; it is killed when a test of that module fails or does not end.", "",
        "| module | mutants | killed | share |", "|---|---|---|---|",
    ]  # fmt: skip
    for module in total:
        killed = total[module] - alive[module]
        lines.append(f"| `{module}` | {total[module]} | {killed} | {100 * killed // total[module]} % |")
    killed = len(mutants) - len(survivors)
    lines += [f"| all | {len(mutants)} | {killed} | {100 * killed // len(mutants)} % |", "", "## Survivors", ""]
    lines += ["| where | before | after | why no test notices |", "|---|---|---|---|"]
    for mutant in survivors:
        name = mutant.module.removeprefix("nclue_build.")
        before, after = (f"`{text.replace('|', chr(92) + '|')}`" for text in (mutant.before, mutant.after))
        lines.append(f"| {name}:{mutant.line} | {before} | {after} | {reason_of(mutant)} |")
    return "\n".join(lines) + "\n"


REASONS: Final[tuple[tuple[str, str], ...]] = (
    ("_SUBSET_WORDS", "how much is looked at together, not what is found"),
    ("words_needed = (inventory.pages + 1)", "a word without a bit for some documents"),
    ("bits = np.uint64(1) << ((inventory.pages + 1)", "other bits, still one for each page of a word"),
    ("bits = np.uint64(1) << ((inventory.pages - 2)", "other bits, still one for each page of a word"),
    ("bitsets.widths[rows[:, 1]]", "all rows of a document have the same width"),
    ("(subset ^ rest).bit_length() - 2", "the conditions in another order, which changes no verdict"),
    ("for page in pages if page in chosen", "the matching is asked every time; it finds the same witness"),
    ("zip(conditions, page_sets, strict=False)", "there are as many conditions as page sets"),
    ("range(1, len(page_sets) + 2)", "no subset is larger than the whole"),
    ("DOCUMENT_LEVEL = 5", "the number stays in memory, files have the word"),
    ("lines=np.arange(", "lines of rows that come from no file are never named"),
    ("* len(document_ids) + document, -2)", "any negative number does"),
    ("position.get(key, -2)", "any negative number does"),
)
"""A piece of the mutated statement, and why it changes nothing that a test could see."""


def reason_of(mutant: Mutant) -> str:
    """Why a mutant survives."""
    return next((reason for piece, reason in REASONS if piece in mutant.after), "not explained yet: a test is missing")


def main() -> int:
    """Run, and write or check."""
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    words = [word for word in sys.argv[1:] if word != "--check"]
    for heavy in ("pytest", "numpy", "networkx", "scipy.sparse", "hypothesis", "pydantic", "orjson"):
        importlib.import_module(heavy)
    whole = [Mutant(module, 0, "", "", path_of(module).read_text("utf-8")) for module in words or MODULES]
    if run_all(whole, lambda _: None) != whole:
        print("the tests fail without any change: nothing can be said of changes", file=sys.stderr)
        return 2
    mutants = [mutant for module in words or MODULES for mutant in mutants_of(module)]
    survivors = run_all(mutants, lambda line: print(line, file=sys.stderr, flush=True))
    killed = 100 * (len(mutants) - len(survivors)) // len(mutants)
    print(f"{len(mutants)} mutants, {len(survivors)} survive, {killed} % killed")
    if "--check" not in sys.argv:
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        REPORT.write_text(report(mutants, survivors), "utf-8")
    return int(killed < MIN_KILLED_PERCENT)


if __name__ == "__main__":
    sys.exit(main())
