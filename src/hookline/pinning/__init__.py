"""What MCP servers say of their tools: asked for, pinned by a person, and compared."""
