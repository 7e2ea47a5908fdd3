"""Disks and what is mounted: programs that work below the file system."""

import re
from collections.abc import Iterator

from hookline.builtin.shell_guard.families.tables import Verb, verbs
from hookline.builtin.shell_guard.model import Act, Family, Finding, fatal, risky
from hookline.builtin.shell_guard.world import World

__all__ = ["FAMILY"]

_DISK = "what is on the disk is gone"


def _disks(act: Act, world: World) -> Iterator[Finding]:
    if _LOOKS.intersection(act.words):
        return
    if act.name in _ONLY_WITH and not any(
        _ONLY_WITH[act.name].match(word) for word in act.words[1:]
    ):
        return
    volumes = act.name.startswith(("lv", "vg", "pv")) and len(act.words) > 1
    if volumes or any("/dev/" in word for word in act.words[1:]):
        yield fatal("deletes", act.text, _DISK)


_LOOKS = frozenset({"-l", "--list", "-L", "-n", "--no-act", "print", "-p", "--print", "-V"})
# Programs that mostly look, and what makes them write.
_ONLY_WITH = {
    "hdparm": re.compile(r"--security|--trim|--make-bad|--write|-W|--yes"),
    "nvme": re.compile(r"format|sanitize|delete-ns|write|reset"),
    "badblocks": re.compile(r"-\w*[wn]"),
}


_DISKUTIL = verbs(
    (
        Verb(
            "(erase\\w*|zeroDisk|partitionDisk|reformat|secureErase|apfs|randomDisk)",
            "deletes",
            _DISK,
            radius="high",
            denied=True,
        ),
    )
)
_VOLUMES = verbs(
    (
        Verb("(destroy|rollback|labelclear)", "deletes", _DISK, radius="high", denied=True),
        Verb("subvolume delete", "deletes", _DISK, radius="high", denied=True),
        Verb(
            "(luksFormat|erase|luksErase|luksKillSlot)",
            "deletes",
            _DISK,
            radius="high",
            denied=True,
        ),
        Verb("-(-stop|-zero-superblock|S)", "deletes", _DISK, radius="high", denied=True),
    )
)


def _repairs(act: Act, world: World) -> Iterator[Finding]:
    quiet = {"-n", "-N", "-l", "-a", "-f", "ls", "info", "table", "status"}.intersection(act.words)
    if not quiet and any(word.startswith(("/dev/", "remove")) for word in act.words[1:]):
        yield risky(
            "changes-system", act.text, "it changes a disk below the file system", radius="high"
        )


def _starts(act: Act, world: World) -> Iterator[Finding]:
    """What the machine starts from, and volumes that are made smaller."""
    looks = {"-v", "--verbose", "-p", "-V", "--version", "-xp"}
    shrinks = act.name != "lvresize" or any(
        word.startswith("-") and word[1:2].isdigit() for word in act.words[2:]
    )
    if len(act.words) > 1 and not looks.issuperset(act.words[1:]) and shrinks:
        why = "the machine may not start again, or lose files"
        yield risky("changes-system", act.text, why, radius="high")


def _umount(act: Act, world: World) -> Iterator[Finding]:
    if {"/", "/home", "/usr", "/var", "/boot", "/proc", "/sys"}.intersection(
        act.words
    ) or "-a" in act.words:
        yield fatal("changes-system", act.text, "running programs lose their files")


def _mount(act: Act, world: World) -> Iterator[Finding]:
    if any("remount" in word or "--bind" in word for word in act.words):
        yield risky("changes-system", act.text, "it changes what the whole system sees")


_KINDS = (
    "ext2", "ext3", "ext4", "xfs", "btrfs", "vfat", "fat", "ntfs", "exfat", "f2fs", "minix",
    "msdos", "hfsplus",
)  # fmt: skip

FAMILY: Family = {
    **dict.fromkeys(
        ("mkfs", *(f"mkfs.{kind}" for kind in _KINDS), "mke2fs", "mkswap", "wipefs", "blkdiscard",
         "sgdisk", "sfdisk", "fdisk", "cfdisk", "gdisk", "parted", "partprobe", "lvremove",
         "vgremove", "pvremove", "lvreduce", "mkntfs", "hdparm", "badblocks", "newfs", "format",
         "nvme"),
        _disks,
    ),
    **dict.fromkeys(
        ("fsck", "e2fsck", "tune2fs", "resize2fs", "xfs_repair", "dmsetup", "losetup", "ntfsfix"),
        _repairs,
    ),
    "diskutil": _DISKUTIL,
    **dict.fromkeys(("zfs", "zpool", "btrfs", "cryptsetup", "mdadm"), _VOLUMES),
    **dict.fromkeys(("grub-install", "efibootmgr", "nvram", "lvresize", "bootctl"), _starts),
    "umount": _umount,
    "mount": _mount,
}  # fmt: skip
