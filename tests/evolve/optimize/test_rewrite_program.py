"""What dspy asks a rewriter for, whatever Python does to docstrings."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = (
    "from evolve.optimize.rewrite_program import *\n"
    "for program in (Rewriter, JointRewriter, Sharpener, Merger, Simplifier, Repairer):\n"
    "    print(program().predict.signature.instructions)\n"
)


@pytest.mark.parametrize("optimized", [(), ("-OO",)])
def test_the_instructions_do_not_depend_on_docstrings(optimized):
    done = subprocess.run(
        [sys.executable, *optimized, "-c", PROGRAM],
        cwd=Path(__file__).parents[3],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("Rewrite one text of an assistant's memory policy so that")
    for start in ("Mend one type", "Merge two versions", "Shorten one text", "Repair a rewrite"):
        assert f"\n{start} of " in done.stdout
    assert done.stdout.count("breaks one is thrown away") == 6
