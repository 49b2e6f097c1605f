"""Time what people wait for: ``import pwlr``, ``pwlr --help`` and a warm ``pwlr embed MUTAG``, each a whole process.

``python -c pass`` takes turns with them, so that a slow machine shows; each number is the median of all rounds. Imports
are told above that baseline, commands as a whole.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from _common import report, take_turns

HEAVY = ("numba", "sklearn", "matplotlib", "scipy", "pandas", "pyarrow", "typer")
TARGETS = {"import pwlr": 0.15, "pwlr --help": 0.4, "pwlr embed MUTAG": 1.5}


def processes(folder: Path) -> dict[str, list[str]]:
    """The command lines to time."""
    cli = [sys.executable, "-m", "pwlr.cli"]
    return {
        "python -c pass": [sys.executable, "-c", "pass"],
        "import numpy": [sys.executable, "-c", "import numpy"],
        "import pwlr": [sys.executable, "-c", "import pwlr"],
        "pwlr --help": [*cli, "--help"],
        "pwlr embed MUTAG": [*cli, "embed", "MUTAG", "-o", str(folder / "mutag.npz")],
    }


def run(command: list[str]) -> None:
    """Run a process to its end; tell what it said if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def loaded_by_import() -> list[str]:
    """Which heavy libraries ``import pwlr`` brings with it."""
    code = f"import sys, pwlr; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def main() -> None:
    """Measure, print a table, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=11)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        commands = processes(Path(folder))
        for command in commands.values():
            run(command)  # warm: files in the system's cache, kernels in Numba's
        tasks = {name: (lambda command=command: run(command)) for name, command in commands.items()}
        seconds = {name: float(np.median(times[:, 0])) for name, times in take_turns(tasks, options.repeats).items()}
    baseline = seconds["python -c pass"]
    told = {name: taken - baseline if name.startswith("import") else taken for name, taken in seconds.items()}
    result: dict[str, Any] = {"repeats": options.repeats, "loaded_by_import": loaded_by_import(), "processes": {}}
    print(f"{'':20}{'seconds':>9}{'target':>9}{'times python':>14}")
    for name, taken in told.items():
        target = TARGETS.get(name)
        ratio = seconds[name] / baseline
        result["processes"][name] = {"seconds": round(taken, 4), "target": target, "times_python": round(ratio, 2)}
        print(f"{name:20}{taken:9.3f}{target or '':>9}{ratio:14.1f}")
    print(f"import pwlr loads: {', '.join(result['loaded_by_import']) or 'none of ' + ', '.join(HEAVY)}")
    report("startup", result)


if __name__ == "__main__":
    main()
