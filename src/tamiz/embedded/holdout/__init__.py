"""Hold-out elimination (HO-SVM): the features whose removal costs least on rows held out."""
