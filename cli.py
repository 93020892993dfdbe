"""Run the command line from a checkout: ``python cli.py run``."""

from nclue_build.cli import main

if __name__ == "__main__":
    main()
