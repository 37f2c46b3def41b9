use std::path::{Path, PathBuf};
use std::time::Duration;

use proptest::prelude::*;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use super::*;

/// Longer than any of these tests takes.
const LONG: Duration = Duration::from_mins(1);

/// A program made of the lines of a script. `install` writes it, since a program that this process
/// holds open for writing, which children of other tests may inherit, cannot be executed.
fn program(folder: &TempDir, script: &str) -> PathBuf {
    let text = folder.path().join("text");
    let program = folder.path().join("program");
    fs::write(&text, format!("#!/bin/sh\n{script}\n")).unwrap();
    let installed = Command::new("install").args([&text, &program]).status();
    assert!(installed.unwrap().success());
    program
}

fn run<Output>(work: impl Future<Output = Output>) -> Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(async { timeout(LONG, work).await.unwrap() })
}

/// What is found for a name: addresses with blanks between, or the error.
fn found(program: impl AsRef<OsStr>, name: &str) -> Result<String, String> {
    let resolver = SystemResolver::asking(program);
    let addresses = run(resolver.resolve(name.parse().unwrap()));
    addresses
        .map(|addresses| {
            let texts: Vec<_> = addresses.map(|address| address.ip().to_string()).collect();
            texts.join(" ")
        })
        .map_err(|error| error.to_string())
}

fn parsed(output: &str) -> Vec<String> {
    let index_of = |name: &str| (name == "eth0").then_some(7);
    let addresses = parse(output.as_bytes(), index_of);
    addresses.iter().map(ToString::to_string).collect()
}

#[test]
fn addresses_are_taken_in_order_and_once() {
    let rows: [(&str, &[&str]); 9] = [
        (
            "192.0.2.7       STREAM host.test\n192.0.2.7       DGRAM  \n192.0.2.7       RAW    \n\
             2001:db8::1     STREAM \n2001:db8::1     DGRAM  \n2001:db8::1     RAW    \n",
            &["192.0.2.7:0", "[2001:db8::1]:0"],
        ),
        (
            "::ffff:192.0.2.7 STREAM x\n192.0.2.7 RAW\n",
            &["192.0.2.7:0"],
        ),
        (
            "fe80::1%eth0 STREAM x\nfe80::1%eth0 RAW\nfe80::1%3 STREAM\n",
            &["[fe80::1%7]:0", "[fe80::1%3]:0"],
        ),
        // An interface that is gone, and one on an address that has none.
        ("fe80::1%gone STREAM x\n192.0.2.7%eth0 STREAM x\n", &[]),
        // No end of the last line: there may be more of it.
        ("192.0.2.1 STREAM x\n192.0.2.12", &["192.0.2.1:0"]),
        ("192.0.2.12", &[]),
        ("", &[]),
        ("nonsense\n\n \n1.2.3\nSTREAM 192.0.2.1\n", &[]),
        ("  192.0.2.1\r\n", &["192.0.2.1:0"]),
    ];
    for (output, expected) in rows {
        assert_eq!(parsed(output), expected, "{output:?}");
    }
}

proptest! {
    #[test]
    fn any_output_is_read(output: Vec<u8>) {
        parse(&output, |_| None);
    }

    #[test]
    fn whatever_is_listed_is_found(
        addresses in prop::collection::vec(any::<IpAddr>(), 0..8),
        kinds in 1..4_usize,
    ) {
        let kinds = &["STREAM", "DGRAM", "RAW"][..kinds];
        let lines = addresses.iter().flat_map(|address| {
            kinds.iter().map(move |kind| format!("{address:<15} {kind} \n"))
        });
        let output: String = lines.collect();
        let mut expected: Vec<SocketAddr> = Vec::new();
        for address in &addresses {
            let address = SocketAddr::new(address.to_canonical(), 0);
            if !expected.contains(&address) {
                expected.push(address);
            }
        }
        prop_assert_eq!(parse(output.as_bytes(), |_| None), expected);
    }
}

#[test]
fn the_program_is_asked_for_the_name_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"read -r line && exit 9
[ "$*" = "ahosts -- -v.test" ] && [ $# = 3 ] && echo "192.0.2.1 STREAM" && echo "2001:db8::1 RAW""#;
    let program = program(&folder, script);
    assert_eq!(found(program, "-v.test").unwrap(), "192.0.2.1 2001:db8::1");
}

#[test]
fn names_of_this_machine_and_addresses_need_no_program() {
    let rows = [
        ("localhost", "::1 127.0.0.1"),
        ("LocalHost.", "::1 127.0.0.1"),
        ("app.localhost", "::1 127.0.0.1"),
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
    ];
    for (name, expected) in rows {
        assert_eq!(found("/nonexistent/getent", name).unwrap(), expected);
    }
}

#[test]
fn a_host_that_is_not_found_is_told() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        found(program(&folder, "exit 2"), "host.invalid").unwrap_err(),
        "cannot find the host host.invalid"
    );
    // The system's own, where there is one; `invalid` is reserved for names that nobody has.
    let told = found("getent", "host.invalid").unwrap_err();
    assert!(
        told.starts_with("cannot find the host host.invalid"),
        "{told}"
    );
}

#[test]
fn without_a_sensible_answer_the_c_library_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let told = "cannot find the host host.invalid: ";
    for script in [
        "exit 1",
        "exit 0",
        "echo nonsense; echo 300.1.2.3",
        "printf '\\377\\000\\n'",
        "kill -KILL $$",
    ] {
        let failure = found(program(&folder, script), "host.invalid").unwrap_err();
        assert!(failure.starts_with(told), "{script}: {failure}");
    }
    let failure = found("/nonexistent/getent", "host.invalid").unwrap_err();
    assert!(failure.starts_with(told), "{failure}");
}

#[test]
fn an_answer_counts_before_the_program_has_ended_and_an_endless_one_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    for script in [
        "echo 192.0.2.1; exec >&-; exec sleep 1000",
        "exec yes '192.0.2.1 STREAM'",
    ] {
        assert_eq!(
            found(program(&folder, script), "host.test").unwrap(),
            "192.0.2.1"
        );
    }
}

#[test]
fn a_program_ends_when_nobody_waits_for_it() {
    let folder = tempfile::tempdir().unwrap();
    for hanging in ["exec sleep 1000", "exec sleep 1000 >&-"] {
        let pid = folder.path().join("pid");
        let script = format!(
            "echo $$ > {0}.new; mv {0}.new {0}; {hanging}",
            pid.display()
        );
        let resolver = SystemResolver::asking(program(&folder, &script));
        let process = run(async {
            tokio::select! {
                _ = resolver.addresses("host.test") => unreachable!("it hangs"),
                pid = written(&pid) => Path::new("/proc").join(pid.trim()),
            }
        });
        assert!(!process.exists(), "{}", process.display());
        fs::remove_file(pid).unwrap();
    }
}

/// What is in a file, once it is there.
async fn written(path: &Path) -> String {
    loop {
        if let Ok(text) = fs::read_to_string(path) {
            return text;
        }
        sleep(Duration::from_millis(2)).await;
    }
}

#[test]
fn interfaces_have_numbers() {
    assert_eq!(index_of_interface("lo"), Some(1));
    for name in ["nonexistent", "", "..", "./lo", "../net/lo"] {
        assert_eq!(index_of_interface(name), None, "{name}");
    }
}
