"""One event, from the bytes that came to the bytes that go back; `answer` is the page to read."""
