"""Which readings of different sensors belong together? (`CORRELATE`)"""
