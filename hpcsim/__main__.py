"""``python -m hpcsim`` is the command `hpcsim`."""

from hpcsim.cli import main

if __name__ == "__main__":
    main()
