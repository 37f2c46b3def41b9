//! A pseudo-terminal with a user and a test clock.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use clap::{Args, FromArgMatches};
use jiff::Timestamp;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};
use serde_json::{Value, json};

use super::super::recap::RecapArguments;
use super::*;
use crate::commands::{Globals, Status};
use crate::io::{
    CancelToken, Clock, DISABLE_FOCUS_REPORTS, ENABLE_FOCUS_REPORTS, Environment, InputStream, Io,
    Messages, OutputStream, Screen, SeededIds, TerminalFacts,
};
use crate::message::{Block, Message, Origin, Role};
use crate::summaries::Excerpt;
use crate::summaries::Text;

const AWAY: Duration = Duration::from_mins(5);

/// A clock that reports reads: the watcher reads it after each look at the session.
#[derive(Debug)]
struct SetClock {
    now: Mutex<Timestamp>,
    looks: Mutex<Sender<()>>,
}

impl SetClock {
    fn new() -> (Arc<Self>, Receiver<()>) {
        let (sender, looks) = channel();
        let now = Timestamp::from_second(1000).unwrap();
        let clock = Self {
            now: Mutex::new(now),
            looks: Mutex::new(sender),
        };
        (Arc::new(clock), looks)
    }

    fn pass(&self, seconds: i64) {
        let mut now = self.now.lock().unwrap();
        *now = Timestamp::from_second(now.as_second() + seconds).unwrap();
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        // The test may have ended.
        let _ = self.looks.lock().unwrap().send(());
        *self.now.lock().unwrap()
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

/// The state of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Session {
    /// Enough prompts, all with replies.
    Idle,
    /// More prompts, all with replies.
    Longer,
    /// An unanswered prompt.
    Busy,
    /// Too few prompts.
    Short,
}

impl Session {
    fn excerpt(self) -> Excerpt {
        let mut excerpt = Excerpt::default();
        let prompts = match self {
            Self::Short => 1,
            Self::Idle | Self::Busy => 4,
            Self::Longer => 6,
        };
        for number in 0..prompts {
            excerpt.note(Message {
                blocks: vec![Block::Text(format!("Do {number}"))],
                ..Message::new(Role::User, Origin::Prompt)
            });
            if self != Self::Busy || number + 1 < prompts {
                excerpt.note(Message::new(Role::Assistant, Origin::Reply));
            }
        }
        excerpt
    }
}

/// The user's end of the terminal.
struct User {
    terminal: File,
    /// A message for each read of the clock.
    looks: Receiver<()>,
    clock: Arc<SetClock>,
}

impl User {
    /// Sends bytes and waits until the watcher has processed them.
    fn types(&mut self, bytes: &[u8]) {
        self.terminal.write_all(bytes).unwrap();
        while self.looks.try_recv().is_ok() {}
        // The bytes may arrive after the read before the first look, but not after the read before the
        // second. Their effects are done before the third.
        for _ in 0..3 {
            self.terminal.write_all(b"x").unwrap();
            self.looks.recv_timeout(Duration::from_secs(20)).unwrap();
        }
    }

    /// Checks the next bytes on the terminal.
    fn reads(&mut self, expected: &[u8]) {
        let mut written = vec![0; expected.len()];
        self.terminal.read_exact(&mut written).unwrap();
        assert_eq!(written, expected);
    }

    fn leaves(&mut self) {
        self.types(b"\x1b[O");
    }

    fn returns_after(&mut self, seconds: i64) {
        self.clock.pass(seconds);
        self.types(b"\x1b[I");
    }
}

fn pseudo_terminal() -> (OwnedFd, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY;
    let theirs = rustix::fs::open(&name, flags, rustix::fs::Mode::empty()).unwrap();
    (ours, File::from(theirs))
}

fn watch(terminal: File, clock: Arc<SetClock>, session: &Mutex<Session>, shown: &Sender<String>) {
    let clock: Arc<dyn Clock> = clock;
    watch_terminal(
        &mut FocusTerminal::set_up(terminal).unwrap(),
        AWAY,
        &clock,
        &CancelToken::default(),
        &mut || Some(session.lock().unwrap().excerpt()),
        &mut || {
            let text = Text {
                text: "All ported".to_owned(),
                model: "builtin".to_owned(),
                cost: None,
            };
            (text, true)
        },
        &mut |made: Text| {
            shown.send(made.text).unwrap();
            anyhow::Ok(())
        },
    )
    .unwrap();
}

#[test]
fn a_user_who_returns_to_the_terminal_sees_the_recap_once() {
    let (ours, theirs) = pseudo_terminal();
    let kept = theirs.try_clone().unwrap();
    let before = tcgetattr(kept.as_fd()).unwrap();
    let (clock, looks) = SetClock::new();
    let (sender, shown) = channel();
    let mut user = User {
        terminal: File::from(ours),
        looks,
        clock: Arc::clone(&clock),
    };
    let session = Arc::new(Mutex::new(Session::Idle));
    let watched = Arc::clone(&session);
    let is = |now| *session.lock().unwrap() = now;
    let sees = || shown.try_iter().collect::<Vec<String>>();
    let thread = std::thread::spawn(move || watch(theirs, clock, &watched, &sender));

    user.reads(ENABLE_FOCUS_REPORTS);
    let told = vec!["All ported".to_owned()];
    let nothing = Vec::<String>::new();
    // A terminal without reports counts as focused.
    user.returns_after(3600);
    assert_eq!(sees(), nothing);
    // A short absence, and a long one.
    user.leaves();
    user.returns_after(299);
    assert_eq!(sees(), nothing);
    user.leaves();
    user.returns_after(300);
    assert_eq!(sees(), told);
    // The same recap is not shown again.
    user.returns_after(900);
    assert_eq!(sees(), nothing);
    // There are no new messages during another absence.
    user.leaves();
    user.returns_after(600);
    assert_eq!(sees(), nothing);
    is(Session::Longer);
    // An absence counts from its first report.
    user.leaves();
    user.clock.pass(200);
    user.leaves();
    user.returns_after(150);
    assert_eq!(sees(), told);
    // The watcher waits for a running turn.
    is(Session::Busy);
    user.leaves();
    user.returns_after(600);
    assert_eq!(sees(), nothing);
    is(Session::Idle);
    user.types(b"");
    assert_eq!(sees(), told);
    // A session that is too short gets no recap.
    is(Session::Short);
    user.leaves();
    user.returns_after(600);
    is(Session::Idle);
    user.types(b"");
    assert_eq!(sees(), nothing);

    let quiet = tcgetattr(kept.as_fd()).unwrap();
    assert!(
        !quiet
            .local_modes
            .intersects(LocalModes::ECHO | LocalModes::ICANON)
    );
    user.terminal.write_all(b"q").unwrap();
    thread.join().unwrap();
    let after = tcgetattr(kept.as_fd()).unwrap();
    assert_eq!(after.local_modes, before.local_modes);
    user.reads(DISABLE_FOCUS_REPORTS);
}

/// Lines of a session of Claude Code: prompts and replies in turn, with these numbers.
fn talk(numbers: std::ops::Range<usize>) -> String {
    let line = |number: usize| {
        let (kind, message) = if number.is_multiple_of(2) {
            let prompt = "Port the config parser to Rust";
            ("user", json!({"role": "user", "content": prompt}))
        } else {
            let text = format!("Done. The parser reads file {number} now.");
            let content = json!([{"type": "text", "text": text}]);
            let message = json!({"id": number.to_string(), "role": "assistant", "model": "x",
                "content": content});
            ("assistant", message)
        };
        let parent = number.checked_sub(1).map(|before| before.to_string());
        let record = json!({"type": kind, "uuid": number.to_string(), "parentUuid": parent,
            "sessionId": "s", "cwd": "/w", "version": "2.1.0", "isSidechain": false,
            "timestamp": "1970-01-01T00:10:00.000Z", "message": message});
        format!("{record}\n")
    };
    numbers.map(line).collect()
}

fn append(session: &Path, lines: &str) {
    let mut file = File::options().append(true).open(session).unwrap();
    file.write_all(lines.as_bytes()).unwrap();
}

/// Returns the recaps in a file.
fn recaps(session: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(session).unwrap();
    let records = text.lines().map(|line| serde_json::from_str(line).unwrap());
    records
        .filter(|record: &Value| record["subtype"] == "away_summary")
        .collect()
}

/// Standard output, piece by piece.
struct Pieces(Sender<Vec<u8>>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let _ = self.0.send(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// `recap --watch --write` on a pseudo-terminal.
struct Watching {
    user: User,
    records: Receiver<Vec<u8>>,
    outcome: Receiver<Status>,
}

impl Watching {
    fn start(session: &Path, environment: Environment) -> Self {
        let (ours, theirs) = pseudo_terminal();
        let (clock, looks) = SetClock::new();
        let (sender, records) = channel();
        let (ended, outcome) = channel();
        let mut io = Io {
            stdin: InputStream::Closed,
            stdout: OutputStream::Sink(Box::new(Pieces(sender))),
            stdout_watch: None,
            messages: Messages::new(std::io::sink()),
            screen: Screen::default(),
            terminal: TerminalFacts {
                stdin: true,
                stdout: true,
                ..TerminalFacts::default()
            },
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            ids: Arc::new(SeededIds::new(7)),
            environment,
        };
        let session = session.to_str().unwrap().to_owned();
        std::thread::spawn(move || {
            let parser = Globals::augment_args(clap::Command::new("recap"));
            let line = ["recap", "--watch", "--write", "-o", "jsonl", &session];
            let matches = RecapArguments::augment_args(parser).get_matches_from(line);
            let globals = Globals::from_arg_matches(&matches).unwrap();
            let arguments = RecapArguments::from_arg_matches(&matches).unwrap();
            let outcome = arguments.run_at(|| Ok(theirs), &globals, &mut io);
            ended.send(outcome.unwrap()).unwrap();
        });
        let terminal = File::from(ours);
        let mut user = User {
            terminal,
            looks,
            clock,
        };
        user.reads(ENABLE_FOCUS_REPORTS);
        Self {
            user,
            records,
            outcome,
        }
    }

    fn is_away(&mut self, seconds: i64) {
        self.user.leaves();
        self.user.returns_after(seconds);
    }

    fn next_record(&self) -> Value {
        let line = self.records.recv_timeout(Duration::from_secs(20)).unwrap();
        serde_json::from_slice(&line).unwrap()
    }

    fn outcome(self) -> Status {
        self.outcome.recv_timeout(Duration::from_secs(20)).unwrap()
    }
}

#[test]
fn recaps_are_written_once_for_each_absence_with_something_new() {
    let folder = tempfile::tempdir().unwrap();
    let session = folder.path().join("s.jsonl");
    std::fs::write(&session, talk(0..6)).unwrap();
    // Without a model, by rules.
    let mut watching = Watching::start(&session, Environment::default());

    watching.is_away(299);
    watching.is_away(301);
    let shown = watching.next_record();
    assert_eq!(shown["turnpipe"]["model"], "builtin");
    assert_eq!(
        (&shown["written"], &shown["session_id"]),
        (&true.into(), &"s".into())
    );
    assert_eq!(shown["timestamp"], "1970-01-01T00:26:40.000Z");
    let written = recaps(&session);
    assert_eq!(written.len(), 1);
    assert_eq!(written[0]["content"], shown["recap"]);
    assert_eq!(written[0]["timestamp"], shown["timestamp"]);

    // Nothing new, then one prompt, then two.
    watching.is_away(400);
    append(&session, &talk(6..8));
    watching.is_away(400);
    assert_eq!(recaps(&session).len(), 1);
    append(&session, &talk(8..10));
    watching.is_away(400);
    let shown = watching.next_record();
    assert_eq!(shown["timestamp"], "1970-01-01T00:46:40.000Z");
    let written = recaps(&session);
    assert_eq!(written.len(), 2);
    assert!(
        shown["recap"].as_str().unwrap().contains("file 9"),
        "{shown}"
    );
    assert_eq!(written[1]["content"], shown["recap"]);

    watching.user.terminal.write_all(b"q").unwrap();
    assert!(watching.records.try_recv().is_err());
    assert_eq!(watching.outcome(), Status::Done);
}

#[test]
fn a_recap_that_was_overtaken_by_a_prompt_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let session = folder.path().join("s.jsonl");
    std::fs::write(&session, talk(0..6)).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let file = session.clone();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = vec![0; 64 * 1024];
        // The user types before the model has replied.
        assert!(stream.read(&mut request).unwrap() > 0);
        append(&file, &talk(6..7));
        let reply = json!({"choices": [{"finish_reason": "stop",
            "message": {"content": "<recap>The parser reads all files now.</recap>"}}]});
        let reply = reply.to_string();
        let length = reply.len();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\
             content-length: {length}\r\n\r\n{reply}"
        )
        .unwrap();
    });
    let variables = [
        ("OPENAI_BASE_URL", address.as_str()),
        ("OPENAI_API_KEY", "sk-0"),
        ("TURNPIPE_FAST_MODEL", "openai:m"),
    ];
    let mut watching = Watching::start(&session, variables.into_iter().collect());
    watching.is_away(301);
    server.join().unwrap();
    watching.user.types(b"");
    assert_eq!(recaps(&session), Vec::<Value>::new());

    // The terminal is closed.
    let Watching {
        user,
        records,
        outcome,
    } = watching;
    drop(user);
    let outcome = outcome.recv_timeout(Duration::from_secs(20)).unwrap();
    assert_eq!(outcome, Status::Done);
    assert!(records.try_recv().is_err());
}
