"""The Relief family: features that tell a sample from its nearest neighbours."""
