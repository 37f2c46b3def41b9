# Ways to the content of a file that cannot be read, or to a change of one that cannot be changed. Each paragraph is run
# by itself, in a directory as tests/cli/sandbox.rs makes it. It must not print the secret, nor change what is locked.
## reads
cat .env
head -c 100 ./.env
cat "$PWD/.env"
cat p/q/.env config/key.pem config/deep/key.pem
tar cf - . 2>/dev/null | cat
cp -r . "$TMPDIR/copy" 2>/dev/null; grep -r . "$TMPDIR/copy"
grep -r . .
find . -type f -exec cat {} +
perl -e 'open F, "<", ".e" . "nv" or die; print <F>'
dd if=.env
. ./.env; echo "$KEY"
cat link
cat < .env
cat deeplink/key.pem
perl -e 'print syscall(437, -100, my $p = ".env", my $h = pack("Q3", 0, 0, 0), 24) >= 0 ? "opened" : "refused"'
perl -e 'open F, "<", ".env" and print "opened"; sysopen F, ".env", 0x200000 and print <F>'
echo "$(<.env)"; while read -r line; do echo "$line"; done < .env
for f in .en?; do cat "$f"; done
## hard links
cat innocent
ln .env other; cat other
ln innocent other2; cat other2
mv innocent other3; cat other3
cp -l config/key.pem other4; cat other4
cat outside/innocent
perl -e 'link "p/q/.env", "other5"; open F, "other5"; print <F>'
## writes
echo changed > locked
echo changed >> locked
rm -f locked; echo changed > locked
mv locked elsewhere
echo changed > new; mv -f new locked
echo changed > new2; ln -f new2 locked
truncate -s 0 locked
sed -i s/original/changed/ locked
chmod 777 locked
touch -d 2001-01-01 locked
echo changed > locked-link
echo changed | tee locked frozen/file > /dev/null
dd of=locked conv=notrunc status=none <<< changed
echo changed > frozen/file; echo changed > frozen/new; rm -rf frozen
mv frozen elsewhere2
rm -f .env; echo changed > .env; mv .env elsewhere3
perl -e 'rename "locked", "elsewhere4" and print "changed"'
perl -e 'print syscall(316, -100, my $a = "locked", -100, my $b = "free", 2) == 0 ? "changed" : "refused"'
perl -e 'truncate "locked", 0 and print "changed"; utime 1, 1, "locked" and print "changed"'
## renames of parents
mv p p2; cat p2/q/.env
mv p/q p/q2; cat p/q2/.env
mv config config2; cat config2/key.pem config2/deep/key.pem
mkdir -p other6 && mv p other6/ && cat other6/p/q/.env
mv frozen-parent fp2; echo changed > fp2/frozen/file
perl -e 'print syscall(316, -100, my $a = "p", -100, my $b = "free-dir", 2)'; cat free-dir/q/.env
## namespaces
unshare -Ur cat .env
unshare -Urm sh -c 'umount .env; cat .env'
unshare -m sh -c 'umount -l .env; cat .env'
nsenter -t 1 -m cat "$PWD/.env"
nsenter -t $OUTER -m cat "$PWD/.env"
perl -e 'print syscall(272, 0x10000000) == 0 ? "changed" : "refused"'
perl -e 'print syscall(435, my $a = pack("Q8", 0x10000000, 0, 0, 0, 17, 0, 0, 0), 64) >= 0 ? "changed" : "refused"'
chroot . cat .env
## mounts
umount .env; cat .env
umount -l .env; umount -l "$PWD"; cat .env
mount --bind . "$TMPDIR"; cat "$TMPDIR/.env"
mount -o remount,bind,rw locked; echo changed > locked
perl -e 'print syscall(428, -100, my $p = ".", 1) >= 0 ? "changed" : "refused"'
perl -e 'print syscall(430, my $t = "tmpfs", 0) >= 0 ? "changed" : "refused"'
perl -e 'print syscall(442, -100, my $p = "locked", 0, my $a = pack("Q4", 0, 1, 0, 0), 32) == 0 ? "changed" : "refused"'
perl -e 'print syscall(166, my $p = ".env", 2) == 0 ? "changed" : "refused"'
## processes
cat "/proc/$OUTER/root$PWD/.env"
cat "/proc/1/root$PWD/.env" "/proc/self/root$PWD/.env"
for p in /proc/[0-9]*; do cat "$p/cwd/.env" "$p/root$PWD/.env"; done 2>/dev/null
for f in /proc/[0-9]*/fd/*; do [ -p "$f" ] || [ -c "$f" ] || head -c 200 "$f"; done 2>/dev/null
cat "/proc/$OUTER/environ" "/proc/$OUTER/mem" 2>/dev/null | head -c 1000
perl -e 'print syscall(101, 0x4206, $ENV{OUTER}, 0, 0) == 0 ? "changed" : "refused"'
## handles
perl -e 'my $h = pack("II", 128, 0) . "\0" x 128; syscall(303, -100, my $p = ".", $h, my $m = pack("I", 0), 0); open D, "<", "."; print syscall(304, -100, $h, 0) >= 0 ? "changed" : "refused"'
perl -e 'my $h = pack("II", 128, 0) . "\0" x 128; syscall(303, -100, my $p = "innocent", $h, my $m = pack("I", 0), 0); print syscall(304, -100, $h, 0) >= 0 ? "changed" : "refused"'
perl -e 'my $h = pack("II", 8, 1) . pack("II", (stat ".env")[1], 0); print syscall(304, -100, $h, 0) >= 0 ? "changed" : "refused"'
perl -e 'my $h = pack("II", 8, 1) . pack("II", (stat "locked")[1], 0); print syscall(304, -100, $h, 1) >= 0 ? "changed" : "refused"'
## descriptors
cat /proc/self/fd/7/.env
cat /dev/fd/7/p/q/.env; cd /proc/self/fd/7 && cat .env
cat <&8
cat /proc/self/fd/8
echo changed >&9
perl -e 'print syscall(257, 7, my $p = ".env", 0) >= 0 ? "changed" : "refused"'
## rings
perl -e 'print syscall(425, 4, my $p = "\0" x 120) >= 0 ? "changed" : "refused"'
perl -e 'print syscall(426, 3, 1, 0, 0, 0, 0) >= 0 ? "changed" : "refused"'
perl -e 'print syscall(427, -1, 0, 0, 0) >= 0 ? "changed" : "refused"'
perl -e 'print syscall(425, 4, my $p = pack("I30", 0, 0, 2, (0) x 27)) >= 0 ? "changed" : "refused"'
## sockets
perl -MSocket -e 'socket S, AF_UNIX, SOCK_STREAM, 0; connect S, pack_sockaddr_un("service") and print <S>'
perl -MSocket -e 'socket S, AF_UNIX, SOCK_STREAM, 0; connect S, pack_sockaddr_un("$ENV{PWD}/p/../service") and print <S>'
perl -MSocket -e 'socket S, AF_UNIX, SOCK_STREAM, 0; connect S, pack_sockaddr_un("service-link") and print <S>'
perl -MSocket -e 'socket S, AF_UNIX, SOCK_STREAM, 0; connect S, pack_sockaddr_un("\0$ENV{ABSTRACT}") and print <S>'
