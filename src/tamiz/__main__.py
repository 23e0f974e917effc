"""``python -m tamiz``: the command ``tamiz`` where its script is not on the path."""

from tamiz.cli import main

main()
