"""``python -m neardup`` is ``neardup``."""

from neardup.cli import program

if __name__ == "__main__":
    program()
