"""How well guards tell dangerous commands from harmless ones, on cases that lie beside this."""
