"""Puts hookline into a platform's own settings and takes it out again; knows no platform."""
