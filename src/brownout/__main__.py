"""`python -m brownout` is the `brownout` command."""

from brownout.cli import main

if __name__ == "__main__":
    main()
