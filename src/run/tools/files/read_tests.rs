//! `Read` against real files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write as _};

use serde_json::json;

use super::*;
use crate::run::tools::Access;
use crate::run::tools::test_context::Session;

fn read(session: &Session, name: &str) -> (String, Value) {
    session.ok::<Read>(json!({ "file_path": session.name(name) }))
}

fn write_numbered(session: &Session, name: &str, lines: usize) {
    let lines: Vec<String> = (1..=lines).map(|line| format!("line {line}\n")).collect();
    session.write(name, lines.concat());
}

#[test]
fn text_has_line_numbers() {
    let session = Session::new();
    session.write("a.txt", "one\n\ttwo\n");
    let (text, structured) = read(&session, "a.txt");
    assert_eq!(text, "     1\tone\n     2\t\ttwo");
    assert_eq!(
        structured,
        json!({ "type": "text", "file": {
            "filePath": session.name("a.txt"),
            "content": "one\n\ttwo\n",
            "numLines": 2,
            "startLine": 1,
            "totalLines": 2,
        }})
    );
}

#[test]
fn relative_paths_start_in_the_working_directory() {
    let session = Session::new();
    session.write("sub/a.txt", "x");
    let (text, structured) = session.ok::<Read>(json!({ "file_path": "sub/../sub/a.txt" }));
    assert_eq!(text, "     1\tx");
    assert_eq!(
        structured["file"]["filePath"],
        json!(session.name("sub/a.txt"))
    );
}

#[test]
fn offset_and_limit_select_lines() {
    let session = Session::new();
    write_numbered(&session, "a", 10);
    let input = json!({ "file_path": session.name("a"), "offset": 3, "limit": 2.0 });
    let (text, structured) = session.ok::<Read>(input);
    assert_eq!(
        text,
        "     3\tline 3\n     4\tline 4\n\n<system-reminder>PARTIAL view: lines 3 to 4 of 10. Read \
         on with offset 5 and a limit, or search with Grep.</system-reminder>"
    );
    let file = &structured["file"];
    assert_eq!(file["content"], "line 3\nline 4");
    assert_eq!(
        (&file["startLine"], &file["totalLines"]),
        (&json!(3), &json!(10))
    );
    let (text, _) = session.ok::<Read>(json!({ "file_path": session.name("a"), "offset": 10 }));
    assert_eq!(text, "    10\tline 10");
    let (text, _) = session.ok::<Read>(json!({ "file_path": session.name("a"), "offset": 0 }));
    assert!(text.starts_with("     1\tline 1\n"));
}

#[test]
fn the_first_page_of_a_long_file_is_returned() {
    let session = Session::new();
    write_numbered(&session, "a", 2001);
    let (text, structured) = read(&session, "a");
    assert!(
        text.contains(
            "  2000\tline 2000\n\n<system-reminder>PARTIAL view: lines 1 to 2000 of 2001."
        )
    );
    assert_eq!(structured["file"]["numLines"], 2000);
    assert!(structured["file"].get("truncatedByTokenCap").is_none());
}

#[test]
fn a_page_has_a_limit_of_characters() {
    let session = Session::new();
    session.write("a", format!("{}\n", "x".repeat(1000)).repeat(300));
    let (text, structured) = read(&session, "a");
    assert!(text.len() < MAX_PAGE_CHARACTERS + 300);
    assert!(
        text.contains("PARTIAL view: lines 1 to 99 of 300."),
        "{}",
        &text[text.len() - 200..]
    );
    assert_eq!(structured["file"]["truncatedByTokenCap"], true);
    let input = json!({ "file_path": session.name("a"), "limit": 200 });
    let failure = session.failure::<Read>(input);
    assert!(failure.contains("99 of them fit"), "{failure}");
}

#[test]
fn an_empty_page_is_reported() {
    let session = Session::new();
    session.write("empty", "");
    session.write("two", "1\n2\n");
    let (text, structured) = read(&session, "empty");
    assert_eq!(
        text,
        "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>"
    );
    assert_eq!(structured["file"]["totalLines"], 0);
    let (text, structured) =
        session.ok::<Read>(json!({ "file_path": session.name("two"), "offset": 3 }));
    assert_eq!(
        text,
        "<system-reminder>Warning: the file exists but is shorter than the provided offset (3). \
         The file has 2 lines.</system-reminder>"
    );
    assert_eq!(structured["file"]["content"], "");
}

#[test]
fn byte_order_marks_and_line_ends_are_not_shown() {
    let session = Session::new();
    session.write("a", b"\xef\xbb\xbfone\r\ntw\xffo\r\n");
    let (text, structured) = read(&session, "a");
    assert_eq!(text, "     1\tone\n     2\ttw\u{fffd}o");
    assert_eq!(structured["file"]["content"], "one\ntw\u{fffd}o\n");
}

#[test]
fn utf_16_with_a_mark_is_read() {
    let session = Session::new();
    let text = "one ä€\ntwo 😀\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    session.write("little", [b"\xff\xfe".as_slice(), &little].concat());
    session.write("big", [b"\xfe\xff".as_slice(), &big].concat());
    for name in ["little", "big"] {
        let (text, _) = read(&session, name);
        assert_eq!(text, "     1\tone ä€\n     2\ttwo 😀", "{name}");
    }
}

#[test]
fn files_that_are_not_text_are_refused() {
    let session = Session::new();
    session.write("binary", b"ELF\0\x01");
    session.write("document", "%PDF-1.7 ...");
    rustix::fs::mkfifoat(rustix::fs::CWD, session.path("pipe"), 0o600.into()).unwrap();
    let table = [
        ("binary", "binary file"),
        ("document", "PDF"),
        ("pipe", "named pipe"),
        ("", "List it with LS"),
        (
            "gone",
            "File does not exist. Note: the current working directory is /",
        ),
    ];
    for (name, expected) in table {
        let failure = session.failure::<Read>(json!({ "file_path": session.name(name) }));
        assert!(failure.contains(expected), "{name}: {failure}");
    }
    assert!(session.context.read_log.entries().is_empty());
}

#[test]
fn images_are_detected_by_content() {
    let session = Session::new();
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03".repeat(1000);
    session.write("picture.txt", &png);
    let input = json!({ "file_path": session.name("picture.txt") });
    let reply = session.call::<Read>(input).unwrap();
    let Content::Blocks(blocks) = reply.content else {
        panic!("no image");
    };
    let [Block::Image { source: image }] = blocks.as_slice() else {
        panic!("no image");
    };
    assert_eq!(image.media_type, "image/png");
    assert_eq!(STANDARD.decode(&image.data).unwrap(), png);
    assert_eq!(
        reply.structured,
        json!({ "type": "image", "file": {
            "base64": image.data,
            "type": "image/png",
            "originalSize": png.len(),
            "dimensions": { "originalWidth": 2, "originalHeight": 3 },
        }})
    );
    let mut large = b"GIF89a\x01\0\x01\0".to_vec();
    large.resize(usize::try_from(MAX_IMAGE_BYTES).unwrap() + 1, 0);
    session.write("large", &large);
    let failure = session.failure::<Read>(json!({ "file_path": session.name("large") }));
    assert!(failure.contains("3932161 bytes"), "{failure}");
    session.write("fits", &large[..large.len() - 1]);
    assert!(
        session
            .call::<Read>(json!({ "file_path": session.name("fits") }))
            .is_ok()
    );
}

#[test]
fn an_image_with_too_many_pixels_is_refused() {
    let session = Session::new();
    let header = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x1f\x41\0\0\0\x03";
    session.write("wide", header.repeat(2));
    let failure = session.failure::<Read>(json!({ "file_path": session.name("wide") }));
    assert!(failure.contains("8001 x 3 pixels"), "{failure}");
}

#[test]
fn reads_are_logged_under_the_resolved_name() {
    let session = Session::new();
    write_numbered(&session, "real", 3);
    std::os::unix::fs::symlink("real", session.path("alias")).unwrap();
    read(&session, "alias");
    let entry = session.context.read_log.get(&session.path("real")).unwrap();
    assert_eq!(entry.range, ReadRange::Whole);
    assert_eq!(entry.stamp, FileStamp::read(&session.path("real")).unwrap());
    assert_eq!(entry.tool_use_id, "toolu_test");
    session.ok::<Read>(json!({ "file_path": session.name("real"), "offset": 2, "limit": 1 }));
    let entry = session.context.read_log.get(&session.path("real")).unwrap();
    assert_eq!(
        entry.range,
        ReadRange::Lines {
            offset: 2,
            limit: 1
        }
    );
}

#[test]
fn a_call_reads_the_target_of_its_path() {
    let session = Session::new();
    session.write("real", "");
    std::os::unix::fs::symlink("real", session.path("alias")).unwrap();
    let input = json!({ "file_path": session.name("alias") });
    let access = session.access::<Read>(&input);
    assert_eq!(access, Access::reads(session.path("real")));
}

#[test]
fn a_cancelled_read_is_reported() {
    let session = Session::new();
    session.write("a", "x");
    session.cancel.cancel();
    let reply = session
        .call::<Read>(json!({ "file_path": session.name("a") }))
        .unwrap();
    assert_eq!(reply.status, CallStatus::Cancelled);
    assert!(session.context.read_log.entries().is_empty());
}

/// Reads a line in the first chunk of a sparse file of 5 GB. Tests in `line_window` check that the rest
/// is not kept in memory.
#[test]
fn reading_a_huge_file_can_be_cancelled() {
    let session = Session::new();
    let mut file = File::create(session.path("huge")).unwrap();
    file.write_all(&b"0123456789abcde\n".repeat(1024)).unwrap();
    file.set_len(5 << 30).unwrap();
    let cancel = session.cancel.clone();
    let reply = std::thread::scope(|scope| {
        let input = json!({ "file_path": session.name("huge"), "offset": 2, "limit": 1 });
        let call = scope.spawn(|| session.call::<Read>(input).unwrap());
        cancel.cancel();
        call.join().unwrap()
    });
    assert_eq!(reply.status, CallStatus::Cancelled);
}

#[test]
fn a_line_far_into_a_large_file_is_found() {
    let session = Session::new();
    let mut file = File::create(session.path("large")).unwrap();
    file.write_all(&b"0123456789abcde\n".repeat(1024)).unwrap();
    file.seek(SeekFrom::Start(256 << 20)).unwrap();
    file.write_all(b"\nlast\n").unwrap();
    let input = json!({ "file_path": session.name("large"), "offset": 1026, "limit": 9 });
    let (text, structured) = session.ok::<Read>(input);
    assert_eq!(text, "  1026\tlast");
    assert_eq!(structured["file"]["totalLines"], 1026);
}
