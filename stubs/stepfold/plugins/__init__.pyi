__all__: tuple[str, ...] = ()
