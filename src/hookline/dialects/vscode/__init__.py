"""VS Code's local agent (Copilot Chat)."""

from hookline.dialects.vscode.codec import VSCode

DIALECT = VSCode()
