"""What several test modules share; ``tests/conftest.py`` makes it importable."""
