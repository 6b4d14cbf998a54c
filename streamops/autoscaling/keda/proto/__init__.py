"""What KEDA and a scaler say to each other; generated, all but this and the ``.proto``. Law: nothing is written by hand here but the ``.proto``."""
