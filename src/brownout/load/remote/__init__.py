"""The load generator on another machine, nearer to the cluster: `docs/ssh.md`.

    place = RemotePlace(load_host, directory)
    Generator(directory, place=place)

The binary is copied there, checked by its hash and kept for the next time; everything else there
is one directory, fetched back and removed.
"""

from brownout.load.remote.place import RemotePlace, recover
from brownout.load.remote.spec import LoadHost, LoadSettings, SshLoad

__all__ = ["LoadHost", "LoadSettings", "RemotePlace", "SshLoad", "recover"]
