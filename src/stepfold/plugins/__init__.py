"""Floor 8: what pytest and hypothesis load by themselves where stepfold is installed.

Loaded in every test run of every project around, so nothing heavy is imported before it is used.
pytest gets fixtures, a marker and an option; hypothesis learns to draw the values of stepfold.
"""

__all__: tuple[str, ...] = ()
