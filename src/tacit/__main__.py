"""``python -m tacit``: the command line, where its script is not on the path."""

from tacit.cli.main import main

main()
