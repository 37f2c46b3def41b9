//! Private keys in all forms in which logs, diffs and programs show them.

use super::redact::redact;
use crate::sample::{is_full_run, sample};

/// Lines of a made-up key, the last one short.
const LINES: [&str; 5] = [
    "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtz",
    "c2gtZWQyNTUxOQAAACB7+qKx0/Jv9mZ1L4o2W8yTn3hRkE5sUdCbXaGfPiQwHgAA",
    "AJgQ0xZkENMWZAAAAAtzc2gtZWQyNTUxOQAAACB7qKx0Jv9mZ1L4o2W8yTn3hRkE",
    "MIIEowIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7MhgHcTz6sE2I2yPB",
    "aB3dE5fG7h==",
];

const KINDS: [(&str, &str); 9] = [
    ("RSA PRIVATE KEY", ""),
    ("EC PRIVATE KEY", ""),
    ("DSA PRIVATE KEY", ""),
    ("OPENSSH PRIVATE KEY", ""),
    ("PRIVATE KEY", ""),
    ("ENCRYPTED PRIVATE KEY", ""),
    (
        "PGP PRIVATE KEY BLOCK",
        "Version: GnuPG v2\nComment: a key - of tests\n\n",
    ),
    (
        "RSA PRIVATE KEY",
        "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0F1E2D3C4B5A69788796A5B4C3D2E1F0\n\n",
    ),
    ("OpenVPN Static key V1", ""),
];

fn key((label, head): (&str, &str)) -> String {
    let lines = LINES.join("\n");
    format!("-----BEGIN {label}-----\n{head}{lines}\n-----END {label}-----\n")
}

/// Puts a text before each line. `#` becomes the number of the line.
fn with_prefix(key: &str, prefix: &str) -> String {
    let lines = key.lines().enumerate();
    let lines =
        lines.map(|(at, line)| format!("{}{line}\n", prefix.replace('#', &(at + 1).to_string())));
    lines.collect()
}

fn json(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// Returns a key in all forms, with their names.
fn forms(key: &str) -> Vec<(String, String)> {
    let one_line = key.trim_end().replace('\n', "\\n");
    let encoded = |space: &str| {
        let encoded = key
            .replace('+', "%2B")
            .replace('/', "%2F")
            .replace('=', "%3D");
        encoded.replace(' ', space).replace('\n', "%0A")
    };
    let mut forms: Vec<(&str, String)> = vec![
        ("plain", key.to_owned()),
        (
            "single quotes",
            format!("DEPLOY_KEY='{}'\nnext", key.trim_end()),
        ),
        (
            "double quotes",
            format!("export DEPLOY_KEY=\"{}\"", key.trim_end()),
        ),
        ("no quotes", format!("SSH_PRIVATE_KEY={key}")),
        ("other name", format!("FOO='{key}'")),
        ("text before", format!("API_TOKEN='see {key}'")),
        ("a name with a colon", format!("private_key: {key}")),
        ("escapes", one_line.clone()),
        ("escapes after a name", format!("PRIVATE_KEY={one_line}")),
        (
            "escapes in quotes",
            format!("PRIVATE_KEY='{one_line}' npm start"),
        ),
        ("escaped carriage returns", key.replace('\n', "\\r\\n")),
        (
            "json",
            format!("{{\"type\":\"x\",\"private_key\":{},\"id\":1}}", json(key)),
        ),
        ("json in json", json(&format!("{{\"note\":{}}}", json(key)))),
        ("json in json in json", json(&json(&json(key)))),
        ("json of php", json(key).replace('/', "\\/")),
        (
            "json of .net",
            json(key).replace('+', "\\u002B").replace('=', "\\u003d"),
        ),
        ("carriage returns", key.replace('\n', "\r\n")),
        (
            "yaml",
            format!("key: |\n{}other: 1\n", with_prefix(key, "    ")),
        ),
        ("deep yaml", with_prefix(key, &" ".repeat(60))),
        ("spaces", key.replace('\n', " ")),
        (
            "array",
            format!("[\n{}]", with_prefix(key, "  \"").replace('\n', "\",\n")),
        ),
        (
            "short array",
            format!("[\"{}\"]", key.trim_end().replace('\n', "\",\"")),
        ),
        (
            "code",
            with_prefix(key, "    \"").replace('\n', "\\n\" +\n"),
        ),
        ("continued lines", key.replace('\n', "\\\n")),
        ("form", encoded("+")),
        ("address", encoded("%20")),
        ("fence", format!("```\n{key}```\n")),
        (
            "here-document",
            format!("cat > k <<'EOF'\n{key}EOF\nchmod 600 k"),
        ),
        ("numbers in escapes", json(&with_prefix(key, "     #\t"))),
        ("arrows in escapes", json(&with_prefix(key, "     #→"))),
        ("quotes in escapes", json(&with_prefix(key, "> "))),
    ];
    for prefix in [
        "> ",
        "> > ",
        "+",
        "-",
        "+ ",
        "     #\t",
        "     #→",
        "#:",
        "#: ",
        "# ",
        "#-",
        "  # | ",
        "// ",
        " * ",
        "# | ",
        "id_rsa:#:",
        "keys/id_rsa-#-",
        "./a b/id_rsa:",
        "web_1  | ",
        "2026-01-02T03:04:05.000Z stdout F ",
        "│ ",
        "\t",
    ] {
        forms.push((prefix, with_prefix(key, prefix)));
    }
    let owned = forms.into_iter();
    owned.map(|(name, text)| (name.to_owned(), text)).collect()
}

/// Asserts that no part of the key is left. Parts of up to 15 characters of a line that is cut may be.
fn assert_masked(name: &str, text: &str) {
    let shown = redact(text);
    for line in LINES {
        let part = if line.len() < 16 { line.len() } else { 16 };
        for start in 0..=line.len() - part {
            let part = &line[start..start + part];
            assert!(
                !shown.contains(part),
                "{name}: {part} of\n{text}\nin\n{shown}"
            );
        }
    }
    assert_eq!(redact(&shown), shown, "{name}");
}

#[test]
fn keys_are_masked_in_all_forms() {
    for kind in KINDS {
        for (name, text) in forms(&key(kind)) {
            assert_masked(&name, &text);
            let around = format!("before {text} after");
            assert_masked(&name, &around);
            assert!(
                redact(&around).ends_with("after"),
                "{name}: {}",
                redact(&around)
            );
        }
    }
}

#[test]
fn keys_that_are_cut_off_are_masked() {
    for kind in KINDS {
        for (name, text) in forms(&key(kind)) {
            let end = text.find("-----END").unwrap();
            let start = text.find(&LINES[0][..8]).unwrap();
            for share in sample([3, 10, 40, 70, 95], 2, |_| ()) {
                // After other lines, a few characters are not known to be of a key.
                if share < 10 && !kind.1.is_empty() {
                    continue;
                }
                let cut = text.floor_char_boundary(start + (end - start) * share / 100);
                let shown = redact(&text[..cut]).into_owned();
                assert!(
                    !shown.contains(&LINES[0][..cut.min(start + 8) - start]),
                    "{name} {share}:\n{}\n{shown}",
                    &text[..cut]
                );
                for mark in [
                    "",
                    "…",
                    "...",
                    "... [1200 characters truncated]",
                    "\n[truncated]\n",
                    "\n… +12 lines",
                ] {
                    assert_masked(
                        &format!("{name} {share} {mark}"),
                        &format!("{}{mark}", &text[..cut]),
                    );
                }
            }
        }
    }
}

#[test]
fn keys_with_a_gap_and_ends_of_keys_are_masked() {
    for kind in KINDS {
        let key = key(kind);
        for mark in [
            "\n[... 12 lines truncated ...]\n",
            "\n... \"12 lines\" ...\n",
            "\n…\n",
            "[truncated]",
        ] {
            let (head, tail) = (
                key.find(&LINES[1][10..]).unwrap(),
                key.find(&LINES[2][20..]).unwrap(),
            );
            assert_masked(mark, &format!("{}{mark}{}", &key[..head], &key[tail..]));
        }
        if kind.0.contains("PRIVATE") {
            for (name, text) in forms(&key) {
                let lines = [&LINES[1][..16], &LINES[2][20..36], &LINES[3][..16]];
                for start in lines.map(|line| text.find(line)).into_iter().flatten() {
                    assert_masked(&format!("end of {name}"), &text[start..]);
                    assert_masked(
                        &format!("end of {name}"),
                        &format!("[truncated]\n{}", &text[start..]),
                    );
                }
            }
        }
    }
}

#[test]
fn other_blocks_and_code_about_keys_stay() {
    let body = LINES.join("\n");
    let mut texts = vec![
        format!("ssh-ed25519 {} me@host", LINES[1]),
        "if text.starts_with(\"-----BEGIN PRIVATE KEY-----\") {\n    return parse_private_key(text);\n}".to_owned(),
        "PEM_START = \"-----BEGIN RSA PRIVATE KEY-----\"\nPEM_END = \"-----END RSA PRIVATE KEY-----\"\n".to_owned(),
        "assert!(pem.contains(\"-----BEGIN PRIVATE KEY-----\"));\n        validate_the_private_key(&pem)?;\n".to_owned(),
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n".to_owned(),
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n".to_owned(),
        "KEY='-----BEGIN PRIVATE KEY-----\n<your key>\n-----END PRIVATE KEY-----'\n".to_owned(),
        "the header -----BEGIN PRIVATE KEY----- was not found\nin the_file_that_was_read.pem".to_owned(),
        "grep -rl 'BEGIN .*PRIVATE KEY' .".to_owned(),
        "grep -c -e '-----BEGIN PRIVATE KEY-----' id_rsa && echo found".to_owned(),
    ];
    for label in [
        "CERTIFICATE",
        "PUBLIC KEY",
        "RSA PUBLIC KEY",
        "CERTIFICATE REQUEST",
        "PGP PUBLIC KEY BLOCK",
        "PGP MESSAGE",
        "PGP SIGNATURE",
    ] {
        texts.push(format!(
            "-----BEGIN {label}-----\n{body}\n-----END {label}-----\n"
        ));
        texts.push(format!(
            "CERT='-----BEGIN {label}-----\\n{}\\n-----END {label}-----'",
            body.replace('\n', "\\n")
        ));
    }
    for text in texts {
        assert_eq!(redact(&text), text);
    }
}

/// The time grows with the length of the text, or this does not end.
#[test]
fn long_texts_of_beginnings_are_read_once() {
    let lines = LINES.join("\n");
    let key = "-----BEGIN PRIVATE KEY-----";
    for (piece, kilobytes) in [
        ("-----BEGIN", 1024),
        ("-----END", 1024),
        (key, 16),
        (&format!("{key}\n"), 16),
        (&format!("{key}\nMIIE"), 16),
        (&format!("{key}\\n"), 16),
        (&format!("KEY='{key}"), 16),
        (&format!("{key}\n{lines}"), 1024),
        (&format!("{lines}\n"), 1024),
        (&format!("{lines}-----END PRIVATE KEY-----"), 1024),
        ("cookie:", 16),
        ("mysql ", 16),
        ("mysql \"", 16),
        ("login ", 16),
        ("curl -u ", 16),
        ("npm config set key ", 16),
        ("token=", 16),
    ] {
        let bytes = kilobytes * if is_full_run() { 1024 } else { 256 };
        let text = piece.repeat(bytes / piece.len());
        redact(&text);
        redact(&format!("{key}\n{text}"));
    }
}
