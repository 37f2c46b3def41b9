# Ways to servers that a workspace must not reach. Each line is run by itself, with rules for `localhost:$PORT`, for any
# name at `$NAMED`, and against `denied.localhost`. All servers answer `reached`, which no line may print.
## other servers, by the proxy
curl -s "http://localhost:$OTHER/"
curl -sp "http://localhost:$OTHER/"
curl -s "http://localhost:$NAMED/"
curl -s "http://refused.test:$PORT/"
curl -s "http://denied.localhost:$NAMED/"
curl -s "http://denied.localhost.:$NAMED/"
curl -s "http://localhost.:$OTHER/"
curl -s "http://LOCALHOST:$OTHER/"
curl -s "http://localhost:$PORT@localhost:$OTHER/"
curl -s "http://localhost:$PORT#@localhost:$OTHER/" -x ''
curl -s -H "Host: localhost:$PORT" "http://localhost:$OTHER/"
curl -sp --proxy-header "Host: localhost:$PORT" "http://localhost:$OTHER/"
curl -sL "http://localhost:$PORT/redirect"
curl -s "http://localhost:$PORT/quiet" "http://localhost:$OTHER/"
curl -s --socks5-hostname 127.0.0.1:61080 "http://localhost:$OTHER/"
curl -sp -o connected -w '%{http_connect}\n' http://127.0.0.1:61080/ | grep -q 200 && echo reached
curl -sp -o connected -w '%{http_connect}\n' http://localhost:61080/ | grep -q 200 && echo reached
exec 3<>/dev/tcp/127.0.0.1/61080; printf 'GET http://localhost:%s/quiet HTTP/1.1\r\n\r\nGET http://localhost:%s/ HTTP/1.1\r\n\r\n' $PORT $OTHER >&3; cat <&3
exec 3<>/dev/tcp/127.0.0.1/61080; printf 'GET / HTTP/1.1\r\nHost: localhost:%s\r\n\r\n' $OTHER >&3; cat <&3
exec 3<>/dev/tcp/127.0.0.1/61080; printf 'CONNECT localhost:%s HTTP/1.1\r\nHost: localhost:%s\r\n\r\nGET / HTTP/1.0\r\n\r\n' $OTHER $PORT >&3; cat <&3
## addresses, also of a permitted server, by the proxy
curl -s --noproxy '' "http://127.0.0.1:$PORT/"
curl -s --noproxy '' "http://127.1:$PORT/"
curl -s --noproxy '' "http://2130706433:$PORT/"
curl -s --noproxy '' "http://0177.0.0.1:$PORT/"
curl -s --noproxy '' "http://0x7f000001:$PORT/"
curl -s --noproxy '' "http://[::1]:$PORT/"
curl -s --noproxy '' "http://[::ffff:127.0.0.1]:$PORT/"
curl -s --noproxy '' "http://[::ffff:7f00:1]:$PORT/"
curl -s --noproxy '' "http://0.0.0.0:$PORT/"
## without the proxy
curl -s --noproxy '*' "http://localhost:$PORT/"
unset ${!http*} ${!HTTP*} ${!ALL*} ${!all*}; curl -s "http://localhost:$PORT/"
exec 3<>"/dev/tcp/127.0.0.1/$PORT"; printf 'GET / HTTP/1.0\r\n\r\n' >&3; cat <&3
exec 3<>"/dev/udp/127.0.0.1/$DATAGRAMS"; echo x >&3; timeout 5 cat <&3
/usr/bin/python3 -c 'import socket; socket.create_connection(("1.1.1.1", 53), 5); print("reached")'
/usr/bin/python3 -c 'import socket; socket.getaddrinfo("example.com", 80); print("reached")'
/usr/bin/python3 -c 'import os, socket; s = socket.socket(socket.AF_UNIX); s.connect("\0" + os.environ["ABSTRACT"]); print(s.recv(9))'
/usr/bin/python3 -c 'import os, socket; s = socket.socket(socket.AF_UNIX); s.connect(os.environ["SOCKET"]); print(s.recv(9))'
/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP); print("reached")'
/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW); print("reached")'
/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM); print("reached")'
## the proxy process
kill -0 "$OUTER" && echo reached
for process in /proc/[0-9]*; do ls -l $process/fd; done 2>/dev/null | grep -c socket: | grep -qv '^0$' && echo reached
