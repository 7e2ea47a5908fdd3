"""From one platform's hook file to another's: entries, adapters, and an exact report of losses."""
