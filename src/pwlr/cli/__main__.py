"""``python -m pwlr.cli``, for places where scripts are not on the path."""

from pwlr.cli import main

main()
