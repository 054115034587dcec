"""What only PostgreSQL needs: where nothing promotes a standby, people do."""

from brownout.session.activity import actions_of

_MADE = actions_of(__name__)
globals().update(_MADE)
__all__ = sorted(_MADE)
