"""The one thing that a program does harm with, a line each: rarer programs, and rarer words of
those that another family knows.

A line is the programs, the words as ``tables`` reads them, a category, and why. ``*`` for the words
stands for any; a category with a ``!`` is refused.
"""
# ruff: noqa: E501 - a table is read by its columns

from collections.abc import Iterator, Mapping

from hookline.builtin.shell_guard.families.tables import Verb, verbs
from hookline.builtin.shell_guard.model import Act, Family, Finding, Judge, fatal, risky
from hookline.builtin.shell_guard.world import World

__all__ = ["FAMILY"]

_TABLE = r"""
setcap                 | *                               | escalates        | the program could do what only root may
cpio                   | (--directory=/\S*|-D)           | overwrites       | what is unpacked replaces what is there
7z 7za 7zz             | (x|e) (-o/(etc|usr|bin|lib|boot|root|home)\S*) | overwrites | what is unpacked replaces files of the system
fossil                 | scrub                           | deletes          | passwords and history go
cvs                    | release (-d)                    | discards-work    | the working copy goes
pg_resetwal            | *                               | deletes          | what the database has not settled yet is lost
nodetool               | (removenode|decommission|assassinate|clearsnapshot|drain|stopdaemon) | changes-remote | the cluster loses a part
cypher-shell           | (?is).*\b(delete|drop|remove)\b.* | deletes        | what the graph loses has no other copy
snow snowsql           | sql                             | changes-remote   | nobody has looked at what the statement does
dotnet                 | ef database drop                | deletes          | the database goes
drizzle-kit            | push (--force)                  | deletes          | columns that are not in the schema go
kafka-delete-records kafka-delete-records.sh | (--.*)    | deletes          | the records have no other copy
aliyun                 | \w+ (Delete|Release|Stop)\w*    | changes-remote   | nothing brings it back
convex                 | run (--prod)                    | changes-remote   | it runs on what others use
chef-client chef-solo puppet cf-agent | (-e|-o|-z|--execute|--apply) | changes-system | it changes the whole machine
puppet                 | (apply|agent)                   | changes-system   | it changes the whole machine
ansible-vault          | (view|decrypt|edit|rekey)       | reads-secret     | it shows what was sealed
knife                  | (ssh|bootstrap|exec)            | changes-remote   | it runs on many machines
knife                  | \w+ (delete|bulk)               | changes-remote   | nothing brings it back
nomad                  | (node|system|job|namespace|volume|operator|acl) (drain|gc|stop|purge|delete|force-leave|remove-peer|bootstrap) | changes-remote | what runs there ends
vault                  | (operator) (seal|step-down|rekey|generate-root|init|unseal) | changes-remote | everybody who needs a secret waits
vault                  | token (create|revoke)           | escalates        | it makes or ends rights
packer                 | build (-force)                  | changes-remote   | images that are there are replaced
etcdctl                | get /? (--prefix)               | reads-secret     | all that the cluster keeps would be shown
ctr crictl             | (containers?|images?|tasks?|content|snapshots?|rm|rmi|rmp|stopp|prune) (delete|del|rm|kill|remove)? | deletes | containers or images go
qemu-img               | (create|convert|resize|snapshot|commit|rebase) .*/dev/.* | deletes | what is on the disk is gone
fsck fsck.ext4 fsck.ext3 fsck.xfs e2fsck | (-\w*[yfap]\w*) | changes-system | files may be lost on the way
update-rc.d            | \S+ (remove|disable)            | changes-system   | the service does not start any more
auditctl               | (-e|-D)                         | weakens-guard    | the record of what happens ends
dmesg                  | (-c|-C|--clear|--read-clear)    | weakens-guard    | the record of what happened goes
history                | (-c|-d|-w)                      | weakens-guard    | the record of what happened goes
nix-collect-garbage    | (-d|--delete-old)               | deletes          | older systems cannot be gone back to
emerge                 | (--unmerge|-C|--depclean)       | changes-system   | what others need may go
flashrom               | (-w|-E|--write|--erase)         | changes-system!  | the machine may not start again
fwupdmgr               | (install|update|downgrade|activate) | changes-system | the machine may not start again
mokutil                | (--disable-validation|--delete|--reset|--import) | weakens-guard | what may start is not checked any more
pmset                  | (-a|-b|-c|sleepnow|shutdown)    | changes-system   | it changes how the machine sleeps
softwareupdate         | (--install|-i|--restart|-R)     | changes-system   | the machine is changed, and may restart
tccutil                | reset                           | weakens-guard    | what apps may do is asked anew
certutil               | (-urlcache|-decode|-addstore|-encode) | runs-unseen-code | it fetches or hides what nobody has read
adb                    | shell (pm|sm|content|recovery) (clear|uninstall|delete|format|partition) | deletes | what is on the device goes
ios-deploy             | (--uninstall_only|--uninstall|-9) | deletes        | the app goes with its data
espefuse espefuse.py   | *                               | changes-system!  | a fuse cannot be mended
esptool esptool.py     | (erase_flash|erase-flash|erase_region|erase-region) | deletes | what is on the device goes
avrdude                | (-U)                            | deletes          | what is on the device is replaced
openocd                | (-c)                            | deletes          | what is on the device may be replaced
dfu-util               | (-D|--download)                 | deletes          | what is on the device is replaced
nrfjprog               | (--recover|--eraseall|-e)       | deletes          | what is on the device goes
bw                     | (list|get|export)               | reads-secret     | it shows what was sealed
secret-tool            | (search|lookup)                 | reads-secret     | it shows what was sealed
buildkite-agent        | (secret) get                    | reads-secret     | it shows what was sealed
glab                   | variable (export|get|list)      | reads-secret     | it shows what was sealed
glab                   | auth status (--show-token|-t)   | reads-secret     | it shows what was sealed
aws                    | configure (export-credentials)  | reads-secret     | it shows the keys
aws                    | organizations (leave-organization|remove-account-from-organization|close-account) | changes-remote | nothing brings it back
pulumi                 | config (--show-secrets)         | reads-secret     | it shows what was sealed
terraform tofu         | state pull                      | reads-secret     | the state holds secrets as they are
kubectl oc             | config view (--raw)             | reads-secret     | it shows the keys of the cluster
kubectl oc             | create token                    | escalates        | it makes a key to the cluster
gcore                  | *                               | reads-secret     | all that the process has in memory is written down
strace ltrace dtruss   | (-p\d*|--attach=\d+)            | reads-secret     | all that the process reads and writes is shown
tcpdump tshark dumpcap | (-w|-A|-X)                      | reads-secret     | all that goes over the network is shown
tftp                   | (-c) .* put .*                  | sends-out        | a file would leave this machine
smbclient              | (-c|--command.*)                | sends-out        | files would leave this machine, or go
chisel frpc rathole boringproxy | *                      | sends-out        | it opens a way into this machine
tailscale              | (funnel|serve|up|down|logout)   | sends-out        | it opens or closes ways into this machine
systemd-run            | (--on-.*)                       | changes-system   | it runs again when nobody looks
code-insiders cursor   | (--install-extension)           | runs-unseen-code | an extension runs whenever the editor does
direnv                 | (allow|permit|grant)            | runs-unseen-code | the file there runs on every visit
cargo                  | install (--git)                 | runs-unseen-code | it builds and runs what nobody has read
gem                    | install (--source)              | runs-unseen-code | packages would come from somewhere else
uvx uv                 | (--from) .*                     | runs-unseen-code | it may run what nobody has read
pip pip3 pipx          | config (set|edit)               | runs-unseen-code | packages would come from somewhere else from then on
go                     | env (-w)                        | runs-unseen-code | modules would come from somewhere else, or unchecked
npm pnpm               | pkg set (scripts\S*)            | runs-unseen-code | it runs with the next install
renice                 | (-n|-p|-g|-u|-\d+|--.*)         | changes-system   | it changes what runs how fast
ipmitool               | *                               | kills | the machine behind it may stop
stress stress-ng       | (-.*)                           | kills            | the machine has no time for anything else
stripe                 | \w+ (create|cancel|delete|update|refund|capture|pay) | changes-remote | it moves money, or what stands for it
twilio                 | (.*):(create|remove|update)     | changes-remote   | it is sent in somebody's name
bitcoin-cli            | (send\w*|dumpprivkey|dumpwallet|encryptwallet|import\w*|sign\w*) | changes-remote! | it moves money
cast                   | (send|wallet|publish)           | changes-remote   | it moves money
forge                  | (script|create) (--broadcast)   | publishes        | nothing takes it back from a chain
solana spl-token       | (transfer|close|burn|program|withdraw-\w+|set-authority) | changes-remote | it moves money
gpg gpg2               | (--import-ownertrust|--delete-secret-keys?|--delete-secret-and-public-keys?|--export-secret-keys?|--export-secret-subkeys) | reads-secret | it changes or shows what is trusted
datadog-ci             | \w+ (uninstrument|delete)       | changes-remote   | nobody is told any more
duplicity              | (remove-\S+|cleanup)            | deletes          | older copies go
kopia restic borg      | (snapshot|repository|maintenance|forget|prune|delete|policy) (delete|disconnect|run|set|remove)? | deletes | older copies go
rndc                   | (delzone|freeze|stop|halt|flush\w*) | changes-remote | names may not be found any more
ldapdelete ldapmodify ldappasswd | *                     | changes-remote   | it changes who may do what
ipa samba-tool kadmin kadmin.local | (\S*-del|\S*-mod|domain|user|group|-q) | changes-remote | it changes who may do what
hydra medusa ncrack sqlmap john hashcat arpspoof ettercap bettercap msfconsole msfvenom hping3 aircrack-ng responder masscan nikto gobuster slowloris | * | changes-remote | it attacks a machine or a password
nmap                   | (-s[SUOV]\w*|-A|--script\S*|-O|-p-) | changes-remote | it tries the doors of other machines
xmrig cpuminer minerd ethminer nbminer t-rex | *        | changes-remote   | it spends this machine for somebody else
esptool esptool.py     | /dev/\S+ (erase_flash|erase-flash|erase_region|erase-region) | deletes | what is on the device goes
format                 | [A-Za-z]:                       | deletes!         | what is on the disk is gone
apt apt-get            | (--allow-unauthenticated|--force-yes|--allow-insecure-repositories) | runs-unseen-code | nobody has vouched for what is installed
zypper dnf yum         | (--no-gpg-checks|--nogpgcheck)  | runs-unseen-code | nobody has vouched for what is installed
expect                 | (-c)                            | runs-unseen-code | it answers the questions that others ask
tar bsdtar gtar        | (-P|--absolute-names)           | overwrites       | what is unpacked replaces what is there
git                    | credential (fill|get)           | reads-secret     | it shows the password
git                    | (credential-\S+) get            | reads-secret     | it shows the password
git                    | lfs prune (--force|-f)          | deletes          | files that were never pushed may go
git                    | (clone|fetch|pull) ext::.*      | runs-unseen-code | the address is a command
"""


def _always(category: str, why: str, *, denied: bool) -> Judge:
    def judge(act: Act, world: World) -> Iterator[Finding]:
        if len(act.words) > 1:
            verdict = fatal if denied else risky
            yield verdict(category, act.text[:200], why, radius="high")

    return judge


def _all(judges: list[Judge]) -> Judge:
    def judge(act: Act, world: World) -> Iterator[Finding]:
        for each in judges:
            yield from each(act, world)

    return judge


def _read(table: str) -> Mapping[str, Judge]:
    found: dict[str, list[Judge]] = {}
    for line in table.strip().splitlines():
        programs, words, category, why = (part.strip() for part in line.split(" | "))
        denied, category = category.endswith("!"), category.rstrip("!")
        judge = (
            _always(category, why, denied=denied)
            if words == "*"
            else verbs((Verb(words, category, why, radius="high", denied=denied),))
        )
        for program in programs.split():
            found.setdefault(program, []).append(judge)
    return {
        program: judges[0] if len(judges) == 1 else _all(judges)
        for program, judges in found.items()
    }


FAMILY: Family = _read(_TABLE)
