"""``tamiz compile``: everything compiled beforehand, for a container image or before a class."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamiz.cli import options as opt

if TYPE_CHECKING:
    from pathlib import Path


def compile(
    jobs: opt.Jobs = 1,
    quiet: opt.Quiet = False,
    only: Annotated[
        str | None, typer.Option(help="Only parts whose name holds this, such as svm or fisher.")
    ] = None,
) -> None:
    """Compile all functions now, so that no later run waits for it.

    Every estimator is fitted once to a small table, of each kind that it takes.
    What is compiled is kept in the folder that NUMBA_CACHE_DIR names, else beside
    the installed source. Run it when an image is built; whoever uses the image
    need not be able to write to the folder.

    Examples:  tamiz compile --jobs -1
               NUMBA_CACHE_DIR=/opt/tamiz-cache tamiz compile
    """
    from tamiz.cli.console import Problem, UsageProblem, say, tell
    from tamiz.runtime.compiling import cache_folder, is_writable
    from tamiz.runtime.progress import listen_to_compiling
    from tamiz.validation import shown_size

    listen_to_compiling(lambda _: None)  # the bar says it
    folder = cache_folder()
    if not is_writable(folder):
        raise UsageProblem(
            f"compiled functions cannot be kept: {folder} cannot be written. Run this as a user "
            "who may, or name another folder with NUMBA_CACHE_DIR."
        )
    names = [name for name in _parts() if only is None or only in name]
    if not names:
        raise UsageProblem(f"--only {only!r}: no part is called so.")
    began, failed = time.monotonic(), {}
    for name, why in _shown(_run_all(names, jobs), len(names), quiet):
        if why is not None:
            failed[name] = why
    files = [path.stat().st_size for path in _kept(folder)]
    seconds = time.monotonic() - began
    say(
        f"{len(names) - len(failed)} parts ready in {seconds:.0f} s; {len(files):,} files, "
        f"{shown_size(sum(files))}, in {folder}"
    )
    for name, why in failed.items():
        tell(f"{name} could not be prepared: {why}")
    if failed:
        raise Problem(f"{len(failed)} of {len(names)} parts could not be prepared.")


def _kept(folder: Path) -> Iterator[Path]:
    """The files of compiled functions; beside the source they are in one folder for each room."""
    from pathlib import Path

    import tamiz

    inside = Path(tamiz.__file__).parent
    root = inside if folder.is_relative_to(inside) else folder
    return (path for path in root.rglob("*.nb[ic]"))


def _run_all(names: list[str], jobs: int) -> Iterator[tuple[str, str | None]]:
    """Run every part, in processes of their own if there are several jobs."""
    from tamiz.runtime.threads import n_threads

    workers = min(jobs if jobs > 0 else max(1, n_threads() + 1 + jobs), len(names))
    if workers == 1:
        yield from map(run_part, names)
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import active_children, get_context

    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    try:
        with _deaf_children():
            waiting = [pool.submit(run_part, name) for name in names]
        for done in as_completed(waiting):
            yield done.result()
    except BaseException:  # Ctrl-C: nobody waits for parts that are under way
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in active_children():
            worker.terminate()
        raise
    pool.shutdown()


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Processes started inside do not get Ctrl-C, which a terminal sends to all of a program."""
    import signal

    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run_part(name: str) -> tuple[str, str | None]:
    """Run one part; its name, and why it failed if it did."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _parts()[name]()
        except Exception as error:  # the others are prepared nevertheless
            return name, f"{type(error).__name__}: {error}"
    return name, None


def _shown(results: Iterator[Any], total: int, quiet: bool) -> Iterator[Any]:
    """The results as they come, with a bar in a terminal."""
    import sys

    if quiet or not sys.stderr.isatty():
        yield from results
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("compiling"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, TextColumn("{task.description}"), console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=total)
        for name, why in results:
            bar.update(task, advance=1, description=name)
            yield name, why


# ----------------------------------------------------------------------------------------- parts

#: Estimators beside the methods: home, class, parameters.
_ESTIMATORS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("tamiz.filters", "GrammarFeatures", {"n_features_to_select": 2}),
    ("tamiz.filters", "StableFeatures", {"n_features_to_select": 2}),
    ("tamiz.svm", "SVC", {}),
    ("tamiz.svm", "SVC", {"kernel": "linear"}),
    ("tamiz.svm", "SVC", {"kernel": "poly"}),
    ("tamiz.svm", "SVC", {"solver": "decomposition"}),
    ("tamiz.svm", "SVR", {}),
    ("tamiz.svm", "SVR", {"kernel": "linear"}),
    ("tamiz.svm", "OneClassSVM", {}),
    ("tamiz.svm", "SVDD", {}),
    ("tamiz.svm", "HardMarginSVC", {}),
    ("tamiz.svm", "BudgetSVC", {"budget": 0.1, "mean": True}),
    ("tamiz.svm", "LinearMachine", {}),
    ("tamiz.svm", "LinearMachine", {"loss": "logistic", "penalty": "l1"}),
    ("tamiz.svm", "LinearMachine", {"loss": "hinge", "penalty": "l1l2"}),
    ("tamiz.svm", "LinearMachineRegressor", {"penalty": "l1"}),
    ("tamiz.svm", "PegasosClassifier", {"max_iter": 3}),
    ("tamiz.svm", "PerceptronClassifier", {"max_iter": 3}),
    ("tamiz.svm", "SubgradientClassifier", {"max_iter": 3}),
    ("tamiz.embedded", "SVMRFE", {"kernel": "rbf"}),
    ("tamiz.neighbors", "KNNClassifier", {}),
    ("tamiz.tree", "CARTClassifier", {}),
    ("tamiz.tree", "CARTRegressor", {}),
    ("tamiz.tree", "ForestClassifier", {"n_estimators": 3}),
    ("tamiz.tree", "BoostingClassifier", {"n_estimators": 3}),
    ("tamiz.tree", "BoostingRegressor", {"n_estimators": 3}),
    ("tamiz.discovery", "Knockoffs", {}),
    ("tamiz.discovery", "Knockoffs", {"method": "lowrank"}),
    ("tamiz.discovery", "Shadows", {"max_rounds": 5}),
    ("tamiz.information", "Discretiser", {}),
    ("tamiz.information", "Discretiser", {"bins": "mdl"}),
)


@dataclass(frozen=True)
class SmallFit:
    """An estimator fitted once to a small table of some kind, as its users would.

    Parameters
    ----------
    make : callable
        Makes the estimator.
    kind : {"numbers", "sparse", "missing", "numeric target", "many", "many, wide"}
        What the table is like.
    """

    make: Callable[[], Any]
    kind: str = "numbers"

    def __call__(self) -> None:
        import numpy as np
        from scipy import sparse

        rng = np.random.default_rng(0)
        X = rng.random({"many": (1100, 6), "many, wide": (1100, 80)}.get(self.kind, (60, 6)))
        signal = X[:, 0] + X[:, 1] - 1.0
        X[:, 0] += 2.0 * (signal > 0)  # separable, for machines that need it
        y = signal if self.kind == "numeric target" else (signal > 0).astype(int)
        if self.kind == "missing":
            X[::7, 2] = np.nan
        table = sparse.csr_matrix(X) if self.kind == "sparse" else X
        fitted = self.make().fit(table, y)
        for method in ("predict", "decision_function", "transform"):
            if hasattr(fitted, method):
                getattr(fitted, method)(table)


def small_fits() -> dict[str, SmallFit]:
    """Every public estimator, on each kind of table that it takes, by a name."""
    from functools import partial
    from importlib import import_module

    from sklearn.utils import get_tags

    from tamiz.evaluation.methods import METHODS

    found = {}
    for name, method in METHODS.items():
        tags = get_tags(_selector(name, "classification")).input_tags
        takes = {
            "numbers": method.family == "baseline" or name != "rrelieff",
            "sparse": method.sparse and tags.sparse,
            "missing": method.missing and tags.allow_nan,
            "numeric target": method.regression,
        }
        for kind in (kind for kind, taken in takes.items() if taken):
            task = "regression" if kind == "numeric target" else "classification"
            shown = name if kind == "numbers" else f"{name}, {kind}"
            found[shown] = SmallFit(partial(_selector, name, task), kind)
    for home, class_name, params in _ESTIMATORS:
        cls = partial(_estimator, import_module, home, class_name, params)
        kind = "numeric target" if class_name.endswith(("SVR", "Regressor")) else "numbers"
        shown = f"{class_name}({', '.join(f'{k}={v!r}' for k, v in params.items())})"
        found[shown] = SmallFit(cls, kind)
        if kind == "numbers" and get_tags(cls()).input_tags.sparse:
            found[f"{shown}, sparse"] = SmallFit(cls, "sparse")
    found["SVC(), many samples"] = SmallFit(found["SVC()"].make, "many")
    logistic = partial(
        _estimator, import_module, "tamiz.svm", "LinearMachine", {"loss": "logistic"}
    )
    found["LinearMachine(loss='logistic'), by products"] = SmallFit(logistic, "many, wide")
    return found


def _estimator(load: Any, home: str, class_name: str, params: dict[str, Any]) -> Any:
    return getattr(load(home), class_name)(**params)


def _selector(name: str, task: str) -> Any:
    from tamiz.evaluation.methods import find_method

    selector = find_method(name).make(task=task, n_features=6)
    known = selector.get_params()
    wanted = {"n_features_to_select": 2, "random_state": 0, "max_iter": 20, "max_evaluations": 30}
    return selector.set_params(
        **{key: value for key, value in wanted.items() if known.get(key, "") is None}
    )


def _strings() -> None:
    from tamiz.kernels import GapWeighted
    from tamiz.svm import SVC

    words = ["sieve", "sift", "serve", "grain", "groan", "green"] * 3
    SVC(kernel=GapWeighted(2, 0.5)).fit(words, [0, 0, 0, 1, 1, 1] * 3).predict(words)


def _programs() -> None:
    """The commands themselves, on a file: readers, a study, its report and a streamed ranking."""
    import contextlib
    import io
    import tempfile
    from pathlib import Path

    import numpy as np

    from tamiz.cli.app import app

    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 5))
    label = np.where(X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=90) > 0, "yes", "no")
    numbers = [",".join(f"{value:.4f}" for value in row) for row in X]
    lines = [f"{row},{'ab'[i % 2]},{label[i]}" for i, row in enumerate(numbers)]
    unseen = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.redirect_stdout(unseen),
        contextlib.redirect_stderr(unseen),
    ):
        table, model = Path(folder, "t.csv"), str(Path(folder, "t.tamiz"))
        table.write_text("a,b,c,d,e,kind,target\n" + "\n".join(lines) + "\n", encoding="utf-8")
        for command in (
            ["rank", str(table), "--stream", "-m", "mrmr", "-q"],
            ["tune", str(table), "-q"],
            ["select", str(table), "--cv", "3", "--repeats", "1", "-q", "--save", model],
        ):
            app(command, prog_name="tamiz", standalone_mode=False)
        if Path(model).exists():
            app(["predict", model, str(table)], prog_name="tamiz", standalone_mode=False)


def _parts() -> dict[str, Callable[[], object]]:
    """What is run, by name."""
    return {**small_fits(), "string kernel": _strings, "programs": _programs}
