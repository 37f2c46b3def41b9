//! A terminal as a person has it, whose clock the test sets.

use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use jiff::Timestamp;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::*;
use crate::dialog::{Block, Message, Origin, Role};
use crate::flow::Product;

const AWAY: Duration = Duration::from_mins(5);

#[test]
fn the_last_report_counts() {
    let table: [(&[u8], Option<bool>); 5] = [
        (b"", None),
        (b"\x1b[I", Some(true)),
        (b"\x1b[O", Some(false)),
        (b"x\x1b[O\x1b[Iy", Some(true)),
        (b"\x1b[A", None),
    ];
    for (bytes, expected) in table {
        assert_eq!(
            FocusReports::default().focus_after(bytes),
            expected,
            "{bytes:?}"
        );
        let mut reports = FocusReports::default();
        let told = bytes
            .iter()
            .filter_map(|byte| reports.focus_after(&[*byte]));
        assert_eq!(told.last(), expected, "{bytes:?}, byte by byte");
    }
}

#[derive(Debug)]
struct SetClock(Mutex<Timestamp>);

impl SetClock {
    fn pass(&self, seconds: i64) {
        let mut now = self.0.lock().unwrap();
        *now = Timestamp::from_second(now.as_second() + seconds).unwrap();
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

/// What the session looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Session {
    /// Enough was said, and all of it is answered.
    Idle,
    /// More was said, and all of it is answered.
    Longer,
    /// A prompt waits for its answer.
    Busy,
    /// Too little was said.
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

/// The end of a terminal at which the person sits.
struct Person {
    terminal: File,
    /// Each look that the watcher took at the session.
    looks: Receiver<()>,
    shown: Receiver<String>,
    clock: Arc<SetClock>,
    session: Arc<Mutex<Session>>,
}

impl Person {
    /// Types something, or has the terminal report it, and waits until it was taken notice of.
    fn types(&mut self, bytes: &[u8]) {
        self.terminal.write_all(bytes).unwrap();
        while self.looks.try_recv().is_ok() {}
        // The bytes may come after the read that belongs to the first look, never after that of the
        // second; what they led to was done before the third.
        for _ in 0..3 {
            self.terminal.write_all(b"x").unwrap();
            self.looks.recv_timeout(Duration::from_secs(20)).unwrap();
        }
    }

    /// What is written to the terminal next.
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

    fn is(&self, session: Session) {
        *self.session.lock().unwrap() = session;
    }

    fn sees(&self) -> Vec<String> {
        self.shown.try_iter().collect()
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

fn watch(
    terminal: File,
    clock: Arc<SetClock>,
    session: &Mutex<Session>,
    looks: &Sender<()>,
    shown: &Sender<String>,
) {
    let clock: Arc<dyn Clock> = clock;
    let look = || session.lock().unwrap().excerpt();
    watch_terminal(
        terminal,
        AWAY,
        &clock,
        &Stop::default(),
        &mut || {
            looks.send(()).unwrap();
            Some(look())
        },
        &mut |_| {
            let product = Product {
                text: "Where it stands".to_owned(),
                model: "builtin".to_owned(),
                cost: None,
            };
            (Ok((product, None)), Some(look()))
        },
        &mut |result| {
            shown.send(result.unwrap().0.text).unwrap();
            Ok(())
        },
    )
    .unwrap();
}

#[test]
fn a_person_who_returns_to_the_terminal_sees_the_recap_once() {
    let (ours, theirs) = pseudo_terminal();
    let kept = theirs.try_clone().unwrap();
    let before = tcgetattr(kept.as_fd()).unwrap();
    let (looks_sender, looks) = channel();
    let (shown_sender, shown) = channel();
    let mut person = Person {
        terminal: File::from(ours),
        looks,
        shown,
        clock: Arc::new(SetClock(Mutex::new(Timestamp::from_second(1000).unwrap()))),
        session: Arc::new(Mutex::new(Session::Idle)),
    };
    let (clock, session) = (Arc::clone(&person.clock), Arc::clone(&person.session));
    let watcher =
        std::thread::spawn(move || watch(theirs, clock, &session, &looks_sender, &shown_sender));

    person.reads(REPORT_FOCUS);
    let told = vec!["Where it stands".to_owned()];
    let nothing = Vec::<String>::new();
    // A terminal that says nothing has the focus, for however long.
    person.returns_after(3600);
    assert_eq!(person.sees(), nothing);
    // A short absence, and a long one.
    person.leaves();
    person.returns_after(299);
    assert_eq!(person.sees(), nothing);
    person.leaves();
    person.returns_after(300);
    assert_eq!(person.sees(), told);
    // Once is enough.
    person.returns_after(900);
    assert_eq!(person.sees(), nothing);
    // Nothing new was said during another absence.
    person.leaves();
    person.returns_after(600);
    assert_eq!(person.sees(), nothing);
    person.is(Session::Longer);
    // An absence counts from its first report.
    person.leaves();
    person.clock.pass(200);
    person.leaves();
    person.returns_after(150);
    assert_eq!(person.sees(), told);
    // A turn that runs is waited for.
    person.is(Session::Busy);
    person.leaves();
    person.returns_after(600);
    assert_eq!(person.sees(), nothing);
    person.is(Session::Idle);
    person.types(b"");
    assert_eq!(person.sees(), told);
    // Where too little was said, the absence is over without a word.
    person.is(Session::Short);
    person.leaves();
    person.returns_after(600);
    person.is(Session::Idle);
    person.types(b"");
    assert_eq!(person.sees(), nothing);

    let quiet = tcgetattr(kept.as_fd()).unwrap();
    assert!(
        !quiet
            .local_modes
            .intersects(LocalModes::ECHO | LocalModes::ICANON)
    );
    person.terminal.write_all(b"q").unwrap();
    watcher.join().unwrap();
    let after = tcgetattr(kept.as_fd()).unwrap();
    assert_eq!(after.local_modes, before.local_modes);
    person.reads(REPORT_NO_FOCUS);
}
