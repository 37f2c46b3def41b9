//! `sandbox --allow-domain`: the programs that work with a proxy, and the servers that none reaches.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::sandbox::{Place, User, text, users};
use crate::skip::{is_missing, skip};
use crate::workspace::{has_workspaces, workspace};

/// Starts a server for the files of a directory. Returns its port.
fn serve(root: PathBuf, other: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let root = root.clone();
            // A client that is gone needs no answer.
            thread::spawn(move || answer(&stream.unwrap(), &root, other).ok());
        }
    });
    port
}

/// Answers one request: with a file, or with a redirection to `other`.
fn answer(mut stream: &TcpStream, root: &Path, other: u16) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let path = first.split([' ', '?']).nth(1).unwrap_or_default();
    let mut file = root.join(path.trim_start_matches('/'));
    if file.is_dir() {
        file = file.join("index.html");
    }
    let head = match (path, fs::read(&file)) {
        ("/redirect", _) => format!("302 Found\r\nLocation: http://localhost:{other}/\r\n\r\n"),
        (_, Ok(content)) => {
            let kind = match file.extension() {
                Some(extension) if extension == "html" => "text/html",
                _ => "application/octet-stream",
            };
            let length = content.len();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            )?;
            return stream.write_all(&content);
        }
        _ => "404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned(),
    };
    write!(stream, "HTTP/1.1 {head}")
}

/// Servers on this machine, with files in the outer directory of a place.
struct Servers {
    /// The one that a rule names.
    port: u16,
    other: u16,
}

impl Servers {
    fn start(place: &Place) -> Self {
        let root = place.path("served");
        fs::create_dir_all(&root).unwrap();
        fs::write(root.join("index.html"), "reached\n").unwrap();
        fs::write(root.join("quiet"), "").unwrap();
        fs::write(root.join("works"), "works\n").unwrap();
        let other = serve(root.clone(), 0);
        let port = serve(root, other);
        Self { port, other }
    }

    fn rule(&self) -> String {
        format!("localhost:{}", self.port)
    }
}

/// Returns a command with access to the server that a rule names.
fn connected_command(place: &Place, servers: &Servers, script: &str) -> Command {
    let mut command = workspace(place, &["--allow-domain", &servers.rule()], script);
    command.env("PORT", servers.port.to_string());
    command
}

/// Whether this machine lacks something that the probes need.
fn is_any_missing(programs: &[&str]) -> bool {
    !has_workspaces() || programs.iter().any(|program| is_missing(program))
}

const PROBES: &str = include_str!("../data/sandbox/network_probes.sh");

#[test]
fn no_probe_reaches_another_server() {
    if is_any_missing(&["curl"]) {
        return;
    }
    if !Path::new("/usr/bin/python3").exists() {
        return skip("/usr/bin/python3");
    }
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    let datagram_port = datagrams.local_addr().unwrap().port();
    thread::spawn(move || {
        while let Ok((_, from)) = datagrams.recv_from(&mut [0; 9]) {
            datagrams.send_to(b"reached\n", from).unwrap();
        }
    });
    let name = format!("turnpipe-network-{}", std::process::id());
    let greet = |listener: UnixListener| {
        thread::spawn(move || {
            for stream in listener.incoming() {
                // The client may have closed the connection.
                let _ = stream.unwrap().write_all(b"reached\n");
            }
        });
    };
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    greet(UnixListener::bind_addr(&address).unwrap());
    for user in users() {
        let place = Place::new_persistent(user);
        let servers = Servers::start(&place);
        let named = serve(place.path("served"), 0);
        let socket = place.path("outside/socket");
        greet(UnixListener::bind(&socket).unwrap());
        let settings = place.path("settings.json");
        let rules = r#"{"permissions": {"deny": ["WebFetch(domain:denied.localhost)"]}}"#;
        fs::write(&settings, rules).unwrap();
        place.chown();
        let run = |script: &str| {
            let rule = servers.rule();
            let any = format!("*:{named}");
            let settings = settings.to_str().unwrap();
            let options = ["--allow-domain", &rule, "--allow-domain", &any];
            let mut command = workspace(
                &place,
                &[&options[..], &["--settings", settings]].concat(),
                script,
            );
            command
                .env("PORT", servers.port.to_string())
                .env("OTHER", servers.other.to_string())
                .env("NAMED", named.to_string())
                .env("DATAGRAMS", datagram_port.to_string())
                .env("ABSTRACT", &name)
                .env("SOCKET", &socket)
                .env("OUTER", std::process::id().to_string());
            text(&command.output().unwrap())
        };
        let output = run("curl -sS http://localhost:$PORT/; curl -spS http://localhost:$PORT/");
        assert_eq!(output, "reached\nreached\n", "{user:?}");
        for probe in PROBES.lines().filter(|line| !line.starts_with('#')) {
            let output = run(probe);
            assert!(!output.contains("reached"), "{user:?}: {probe}\n{output}");
        }
        let output =
            run("curl -s http://localhost:$NAMED/ http://denied.localhost/ http://a.test/");
        let refusals = [
            "must not be accessed",
            "a denied domain",
            "not an allowed domain",
        ];
        for refusal in refusals {
            assert!(output.contains(refusal), "{user:?}: {output}");
        }
    }
}

/// Programs that use the proxy: a command that fails where they are missing, how files for them are made in the directory
/// of the server, and a script that prints `works`.
const PROGRAMS: [(&str, &str, &str); 6] = [
    (
        "git --version",
        "export GIT_CONFIG_GLOBAL=/dev/null; git init -q r && git -C r -c user.name=a -c user.email=b@c commit -q \
         --allow-empty -m works && git clone -q --bare r r.git && git -C r.git update-server-info",
        "git clone -q http://localhost:$PORT/r.git && git -C r log --format=%s; rm -rf r",
    ),
    (
        "/usr/bin/python3 -m pip --version",
        "mkdir -p d/tiny d/tiny-1.dist-info simple/tiny && echo 'print(\"works\")' > d/tiny/__init__.py && cd d && \
         printf 'Metadata-Version: 2.1\nName: tiny\nVersion: 1\n' > tiny-1.dist-info/METADATA && \
         printf 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n' > tiny-1.dist-info/WHEEL && \
         printf 'tiny/__init__.py,,\ntiny-1.dist-info/METADATA,,\ntiny-1.dist-info/WHEEL,,\n' > tiny-1.dist-info/RECORD && \
         $PYTHON -m zipfile -c ../simple/tiny/tiny-1-py3-none-any.whl tiny tiny-1.dist-info && \
         echo '<a href=\"tiny-1-py3-none-any.whl\">tiny-1-py3-none-any.whl</a>' > ../simple/tiny/index.html",
        "$PYTHON -m pip -q --disable-pip-version-check download -d wheels -i http://localhost:$PORT/simple/ tiny && \
         $PYTHON -m pip -q --disable-pip-version-check install --root-user-action ignore -t i -i http://localhost:$PORT/simple/ tiny && \
         ls wheels | grep -q tiny && PYTHONPATH=i $PYTHON -c 'import tiny'",
    ),
    (
        "npm --version && node --version",
        "mkdir -p package registry && echo 'console.log(\"works\")' > package/index.js && \
         echo '{\"name\": \"tiny\", \"version\": \"1.0.0\"}' > package/package.json && tar czf tiny.tgz package && \
         echo \"{\\\"name\\\": \\\"tiny\\\", \\\"dist-tags\\\": {\\\"latest\\\": \\\"1.0.0\\\"}, \\\"versions\\\": {\\\"1.0.0\\\": \
         {\\\"name\\\": \\\"tiny\\\", \\\"version\\\": \\\"1.0.0\\\", \\\"dist\\\": {\\\"tarball\\\": \
         \\\"http://localhost:$PORT/tiny.tgz\\\"}}}}\" > registry/tiny",
        "npm install --silent --no-audit --no-fund --no-update-notifier --registry http://localhost:$PORT/registry/ \
         tiny > log 2>&1 || cat log; node -e 'require(\"tiny\")'",
    ),
    (
        "/usr/bin/python3 --version",
        "true",
        "$PYTHON -c 'import os, urllib.request as r; \
         print(r.urlopen(\"http://localhost:%s/works\" % os.environ[\"PORT\"]).read().decode().strip())'",
    ),
    (
        "wget --version",
        "true",
        "wget -qO- http://localhost:$PORT/works",
    ),
    (
        "curl --version",
        "true",
        "curl -sSf http://localhost:$PORT/works",
    ),
];

#[test]
fn programs_use_the_proxy() {
    if is_any_missing(&["curl"]) {
        return;
    }
    for user in users() {
        let place = Place::new_persistent(user);
        let servers = Servers::start(&place);
        for (check, setup, script) in PROGRAMS {
            let mut checked = place.command(&["bash", "-c", check]);
            if !checked.output().unwrap().status.success() {
                skip(check);
                continue;
            }
            let mut made = Command::new("bash");
            made.args(["-c", setup]).current_dir(place.path("served"));
            made.env("PORT", servers.port.to_string())
                .env("PYTHON", "/usr/bin/python3");
            assert!(made.status().unwrap().success(), "{setup}");
            place.chown();
            let mut command = connected_command(&place, &servers, script);
            command
                .env("PYTHON", "/usr/bin/python3")
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .env("PIP_CONFIG_FILE", "/dev/null")
                // They are replaced.
                .envs([("http_proxy", "http://192.0.2.1:1"), ("no_proxy", "*")]);
            let output = text(&command.output().unwrap());
            assert_eq!(output, "works\n", "{user:?}: {script}");
        }
    }
}

#[test]
fn without_domains_variables_of_the_user_are_empty() {
    if is_any_missing(&[]) {
        return;
    }
    let place = Place::new_persistent(User::Own);
    let mut command = workspace(&place, &[], "echo \"$HTTPS_PROXY$http_proxy\"");
    command.envs([("HTTPS_PROXY", "http://192.0.2.1:1")]);
    assert_eq!(text(&command.output().unwrap()), "\n");
    let mut command = workspace(&place, &["--network", "on"], "echo $HTTPS_PROXY");
    command.envs([("HTTPS_PROXY", "http://192.0.2.1:1")]);
    assert_eq!(text(&command.output().unwrap()), "http://192.0.2.1:1\n");
}

#[test]
fn rules_about_domains_are_those_of_the_proxy() {
    if is_any_missing(&["curl"]) {
        return;
    }
    let place = Place::new_persistent(User::Own);
    let script = "curl -s http://a.test/ http://b.test/; echo $no_proxy";
    let settings = place.path("settings.json");
    let rules = r#"{"permissions": {"allow": ["WebFetch(domain:*.test)"], "deny": ["WebFetch(domain:A.test)"]}}"#;
    fs::write(&settings, rules).unwrap();
    let options = ["--settings", settings.to_str().unwrap()];
    let output = text(&workspace(&place, &options, script).output().unwrap());
    let (first, rest) = output.split_once('\n').unwrap();
    assert_eq!(first, "turnpipe: a.test:80: a denied domain");
    // There is no such name.
    assert!(
        rest.starts_with("turnpipe: b.test:80: failed to lookup"),
        "{output}"
    );
    assert!(rest.ends_with("\nlocalhost,127.0.0.1,::1\n"), "{output}");
}

#[test]
fn invalid_options_end_before_the_command() {
    if is_any_missing(&[]) {
        return;
    }
    let place = Place::new_persistent(User::Own);
    let rows: [(&[&str], &str); 2] = [
        (
            &["--allow-domain", "http://a.test"],
            "turnpipe: domains of the workspace: `http://a.test` is not a host such as `*.example.com:443`\n",
        ),
        (
            &["--allow-domain", "a.test", "--network", "on"],
            "turnpipe: `--allow-domain` restricts nothing with `--network on`\n",
        ),
    ];
    for (options, message) in rows {
        let output = workspace(&place, options, "echo ran").output().unwrap();
        assert_eq!(
            (output.status.code(), &*text(&output)),
            (Some(125), message)
        );
    }
}

/// Returns the processes below this one.
fn processes_below(child: &Child) -> BTreeSet<u32> {
    let mut found = BTreeSet::from([child.id()]);
    let parent_of = |process: u32| -> Option<u32> {
        let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
        line.trim().parse().ok()
    };
    let entries = || fs::read_dir("/proc").unwrap().flatten();
    let all = || entries().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    loop {
        let below = |process: &u32| parent_of(*process).is_some_and(|up| found.contains(&up));
        let more: Vec<u32> = all()
            .filter(|process| !found.contains(process) && below(process))
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

#[test]
fn the_proxy_ends_with_the_command() {
    if is_any_missing(&["curl"]) {
        return;
    }
    for user in users() {
        let place = Place::new_persistent(user);
        let servers = Servers::start(&place);
        for (script, status) in [("exit 3", 3), ("kill -TERM $$", 143), ("kill -9 $$", 137)] {
            // curl has ended when its output is shown.
            let script =
                format!("echo \"$(curl -s http://localhost:$PORT/)\"; read line; {script}");
            for kills in [false, true] {
                let mut command = connected_command(&place, &servers, &script);
                let pipe = Stdio::piped;
                let mut child = command.stdin(pipe()).stdout(pipe()).spawn().unwrap();
                let mut stdout = child.stdout.take().unwrap();
                stdout.read_exact(&mut [0; 8]).unwrap();
                let processes = processes_below(&child);
                // Two beside the command, and the proxy.
                assert_eq!(processes.len(), 4, "{user:?}");
                if kills {
                    child.kill().unwrap();
                }
                drop(child.stdin.take());
                let ended = child.wait().unwrap();
                let signal = std::os::unix::process::ExitStatusExt::signal(&ended);
                let code = ended.code().or(signal.map(|signal| signal + 128));
                assert_eq!(
                    code,
                    Some(if kills { 137 } else { status }),
                    "{user:?}: {script}"
                );
                // Those that a signal of the system ends may take a moment.
                while processes.iter().any(|process| is_alive(*process)) {
                    thread::yield_now();
                }
            }
        }
    }
}

fn is_alive(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/stat"));
    status.is_ok_and(|status| !status.contains(") Z "))
}

#[test]
fn signals_for_the_command_do_not_end_the_proxy() {
    if is_any_missing(&["curl"]) {
        return;
    }
    let place = Place::new_persistent(User::Own);
    let servers = Servers::start(&place);
    let script = "trap 'curl -sS http://localhost:$PORT/; exit 5' INT; echo started; while read line; do :; done; sleep 100";
    let mut command = connected_command(&place, &servers, script);
    command.process_group(0);
    // Jobs of scripts inherit an ignored signal, which no shell can trap.
    // SAFETY: only makes a system call.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        });
    }
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 8]).unwrap();
    let group = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process_group(group, rustix::process::Signal::INT).unwrap();
    let mut output = String::new();
    stdout.read_to_string(&mut output).unwrap();
    // The command gets the signal of the group, and that of the process beside it.
    assert!(output.starts_with("reached\n"), "{output}");
    assert_eq!(child.wait().unwrap().code(), Some(5));
}
