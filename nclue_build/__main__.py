"""``python -m nclue_build``."""

from nclue_build.cli import main

if __name__ == "__main__":
    main()
