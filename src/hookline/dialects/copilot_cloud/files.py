"""Where the Copilot cloud agent looks for hooks: in the clone, and nowhere else."""

import os
from collections.abc import Sequence

from hookline.dialects._copilot.files import CopilotFiles, in_repository, is_vscodes
from hookline.dialects.copilot_cloud import DIALECT
from hookline.model.hook import Layer
from hookline.model.native import NativePlace, Where

__all__ = ["FILES", "CopilotCloudFiles"]


class CopilotCloudFiles(CopilotFiles):
    """The hook files of the Copilot cloud agent."""

    codec = DIALECT
    run_by = frozenset({"copilot-cloud"})

    def owns(self, path: str, content: bytes) -> bool:
        """The repository's hook files."""
        return in_repository(path) and not is_vscodes(content)

    def places(self, where: Where) -> Sequence[NativePlace]:
        """One folder."""
        path = os.path.join(where.project, ".github/hooks")
        return (NativePlace(path=path, layer=Layer.PROJECT, scope="project"),)


FILES = CopilotCloudFiles()
