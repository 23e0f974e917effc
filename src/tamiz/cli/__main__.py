"""``python -m tamiz.cli``."""

from tamiz.cli.app import main

main()
