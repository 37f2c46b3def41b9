# Ways out of a workspace. Each line is run by itself in a repository. It must not change anything outside, nor print
# `changed`, nor the secret.
## writes
echo evil > "$OUTSIDE/file"
echo evil >> "$OUTSIDE/new"
mkdir "$OUTSIDE/d" && echo changed
rm -f "$OUTSIDE/file"
mv "$OUTSIDE/file" . && echo changed
ln "$OUTSIDE/file" here && echo evil > here
ln -s "$OUTSIDE" link; echo evil > link/file
chmod 777 "$OUTSIDE/file" && echo changed
touch -d 2001-01-01 "$OUTSIDE/file" && echo changed
truncate -s 0 "$OUTSIDE/file"
python3 -c 'import os; os.open(os.environ["OUTSIDE"] + "/file", os.O_WRONLY | os.O_TRUNC)'
cp made "$OUTSIDE/x" 2>/dev/null; install -m 644 /etc/hosts "$OUTSIDE/y" && echo changed
dd if=/dev/zero of="$OUTSIDE/file" count=1 2>/dev/null && echo changed
cd "$OUTSIDE" && echo evil > file
echo x > /etc/turnpipe-probe && echo changed
echo x > /usr/turnpipe-probe && echo changed
echo x > ~/turnpipe-probe && echo changed
echo evil > ~/.bashrc && echo changed
perl -e 'rename "$ENV{OUTSIDE}/file", "f" and print "changed"'
mknod disk b 8 0 && head -c1 disk && echo changed
## protected
echo evil >> .git/config
git config core.pager evil
echo evil > .git/hooks/pre-commit && echo changed
mv .git other && echo changed
rm -rf .git; [ -e .git/config ] || echo changed
echo evil > sub/.git/config
mv sub other; echo evil > other/.git/config
echo evil > .claude/settings.json
mv .claude x && echo changed
ln -f made .git/config && echo changed
echo evil > f; cp f .git/config
sed -i s/bare/evil/ .git/config
## keys
cat ~/.ssh/id
cat ~/.ssh/*
cat .env
tar cf - ~/.ssh 2>/dev/null | cat
cat "$(dirname "$PWD")/.ssh/id"
find ~ -name id -path '*.ssh*' -exec cat {} + 2>/dev/null
## network
exec 3<>"/dev/tcp/127.0.0.1/$PORT" && echo changed
perl -MSocket -e 'socket S, PF_INET, SOCK_STREAM, 0; connect S, pack_sockaddr_in($ENV{PORT}, inet_aton("127.0.0.1")) and print "changed"'
python3 -c 'import socket; socket.create_connection(("1.1.1.1", 53), 2); print("changed")'
python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b"x", ("1.1.1.1", 53)); print("changed")'
ls /sys/class/net | grep -v -e lo -e bonding_masters | grep . | grep -q eth && ip link set eth0 up && echo changed
## processes
kill -0 "$OUTER" && echo changed
ls "/proc/$OUTER/cwd" && echo changed
cat "/proc/$OUTER/environ" && echo changed
cat "/proc/1/root$OUTSIDE/file" > /dev/null; echo evil > "/proc/1/root$OUTSIDE/file"
kill -KILL -1; echo done
unshare -Ur true && echo changed
unshare -m true && echo changed
mount --bind / . && echo changed
umount /tmp && echo changed
chroot / true && echo changed
nsenter -t 1 -m true && echo changed
