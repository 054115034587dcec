"""One scenario on several systems, versions or settings: tables and one figure, side by side."""
