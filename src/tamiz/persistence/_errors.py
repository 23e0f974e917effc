"""What can be wrong with a model file."""


class ModelFileError(ValueError):
    """A file is not a model of tamiz, is damaged, or holds what must not be loaded."""


class ModelFileWarning(UserWarning):
    """A model was written by another version; look at its answers before you trust them."""
