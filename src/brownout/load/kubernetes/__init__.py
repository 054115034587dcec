"""Load generators as the pods of an Indexed Job: `docs/kubernetes.md`.

    places = places_for(settings, directory, parts)
    Generator(parts[0], place=places[0]); Generator(parts[1], place=places[1]); …

The specification with its secrets goes over the attached streams only; the files come back by a
command of the generator's binary beside it, so the image needs neither a shell nor tar.
"""

from brownout.load.kubernetes.place import PodPlace, places_for
from brownout.load.kubernetes.recovery import recover
from brownout.load.kubernetes.spec import KubernetesLoad

__all__ = ["KubernetesLoad", "PodPlace", "places_for", "recover"]
