use std::sync::mpsc::Receiver;

use super::*;
use crate::client::model::{Delivery, Failure, Provider, Reply, ReplyEvent, Request};
use crate::io::CancelToken;
use crate::jsonl::Reader;
use crate::message::ToolUseId;
use crate::summaries::ask::Asker;
use crate::summaries::label::LabelSource;
use crate::summaries::outcome::Text;

/// A model whose replies come from the test.
struct Silent;

impl Provider for Silent {
    fn name(&self) -> &'static str {
        "silent"
    }

    fn ask(
        &self,
        _: &Request,
        _: Delivery,
        _: &CancelToken,
        _: &mut dyn FnMut(ReplyEvent),
    ) -> Result<Reply, Failure> {
        Err(Failure::Aborted)
    }

    fn body(&self, _: &Request, _: Delivery) -> String {
        String::new()
    }
}

/// The output: the ids of calls, results and labels, in order.
#[derive(Default)]
struct Written {
    items: Vec<String>,
    lost_patience: usize,
}

impl LabelSink for Written {
    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let line = String::from_utf8_lossy(bytes).into_owned();
        let kind = if line.contains("tool_result") {
            "result"
        } else {
            "call"
        };
        let id = line
            .split("\"t")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        self.items
            .push(format!("{kind} t{}", id.unwrap_or_default()));
        Ok(())
    }

    fn label(&mut self, label: Label, _: Option<&SessionId>) -> io::Result<()> {
        let ids: Vec<&str> = label.ids.iter().map(ToolUseId::as_str).collect();
        self.items.push(format!("label {}", ids.join(" ")));
        Ok(())
    }

    fn report_late(&mut self, _: u64) {}

    fn report_lost_patience(&mut self) {
        self.lost_patience += 1;
    }

    fn damage(&mut self, _: &Damage) {}

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn model() -> Labeler {
    Labeler::Model {
        asker: Asker {
            provider: Arc::new(Silent),
            stop: CancelToken::default(),
            limit: None,
        },
        instructions: String::new(),
        shortcuts: false,
    }
}

/// A stream, what it wrote, and the batches that it asked about.
struct Bench<'a> {
    stream: LabelStream<'a>,
    written: Written,
    asked: Receiver<Batch>,
}

impl<'a> Bench<'a> {
    fn new(placing: Placing, labeler: &'a Labeler, recorded: Option<RecordedLabels>) -> Self {
        let timing = Timing { placing, jobs: 4 };
        let mut stream = LabelStream::new(timing, labeler, recorded, Decoder::with_detection());
        let (work, asked) = channel();
        stream.work = Some(work);
        Self {
            stream,
            written: Written::default(),
            asked,
        }
    }

    fn read(&mut self, text: &str) {
        let prefilter = Prefilter::new(&["\"type\""]).unwrap();
        let mut reader = Reader::new(io::Cursor::new(text.to_owned()), prefilter);
        while let Some(piece) = reader.next_piece().unwrap() {
            self.stream.take(piece, &mut self.written);
            self.stream.write(&mut self.written).unwrap();
        }
    }

    fn end(&mut self) {
        let events = self.stream.decoder.finish();
        self.stream.batches.finish(events);
        self.stream.place_labels();
        self.stream.write(&mut self.written).unwrap();
    }

    fn asked(&self) -> Vec<Batch> {
        self.asked.try_iter().collect()
    }

    /// Replies with the label of a batch, this long after the request.
    fn reply(&mut self, batch: &Batch, after: Duration) {
        let text = Text {
            text: "Read it".to_owned(),
            model: "silent".to_owned(),
            cost: None,
        };
        let label = Label {
            ids: batch.calls.iter().map(|call| call.id.clone()).collect(),
            result: Some(Ok(text)),
            source: LabelSource::New(None),
        };
        let now = self.stream.requested[&batch.number].since + after;
        self.stream.take_label(batch.number, label, now);
        self.stream.write(&mut self.written).unwrap();
    }
}

fn call(message: usize, id: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"m{message}","role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"Read","input":{{"file_path":"{id}"}}}}]}}}}"#
    ) + "\n"
}

fn result(id: &str) -> String {
    format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"x"}}]}}}}"#
    ) + "\n"
}

/// Messages with one call each, and their results.
fn turns(numbers: std::ops::Range<usize>) -> String {
    let turn = |number| {
        let id = format!("t{number}");
        call(number, &id) + &result(&id)
    };
    numbers.map(turn).collect()
}

const HOLD: Duration = Duration::from_nanos(1);

fn waited_out() {
    let start = Instant::now();
    while start.elapsed() <= HOLD {}
}

#[test]
fn every_requested_label_is_written_when_it_is_ready() {
    let labeler = model();
    let mut bench = Bench::new(Placing::WhenReady, &labeler, None);
    bench.read(&turns(0..4));
    bench.end();
    let asked = bench.asked();
    assert_eq!(asked.len(), 4);
    assert!(bench.stream.awaits_labels());
    for batch in asked.iter().rev() {
        bench.reply(batch, 450 * Duration::from_millis(1));
    }
    assert!(!bench.stream.awaits_labels());
    let labels = ["label t3", "label t2", "label t1", "label t0"];
    assert_eq!(bench.written.items[8..], labels);
}

#[test]
fn a_late_label_follows_where_the_stream_is() {
    let labeler = model();
    let mut bench = Bench::new(Placing::BeforeNextMessage(HOLD), &labeler, None);
    bench.read(&turns(0..2));
    waited_out();
    bench.read(&turns(2..3));
    let asked = bench.asked();
    bench.reply(&asked[0], Duration::from_secs(1));
    bench.end();
    let found = &bench.written.items;
    let label = found.iter().position(|item| item == "label t0").unwrap();
    assert!(label > 3, "{found:?}");
}

#[test]
fn a_slow_model_is_asked_again() {
    let labeler = model();
    let mut bench = Bench::new(Placing::BeforeNextMessage(HOLD), &labeler, None);
    for number in 0..5 {
        bench.read(&turns(number..number + 1));
        waited_out();
        bench.stream.write(&mut bench.written).unwrap();
    }
    assert_eq!(bench.written.lost_patience, 1);
    let asked = bench.asked();
    assert_eq!(asked.len(), 3);
    // None is requested while others are, and then one at a time.
    for batch in &asked {
        bench.reply(batch, Duration::from_secs(9));
    }
    bench.read(&turns(5..8));
    let asked = bench.asked();
    assert_eq!(asked.len(), 1);
    bench.reply(&asked[0], Duration::ZERO);
    bench.read(&turns(8..11));
    bench.end();
    assert!(bench.asked().len() >= 3);
    let labels = bench
        .written
        .items
        .iter()
        .filter(|item| item.starts_with("label"));
    assert_eq!(labels.count(), 4);
}

/// The first call of a message may be labelled before the second one arrives.
#[test]
fn no_call_is_labelled_twice() {
    let labeler = model();
    for placing in [
        Placing::WhenReady,
        Placing::BeforeNextMessage(Duration::from_mins(1)),
    ] {
        let mut bench = Bench::new(placing, &labeler, None);
        bench.read(&(call(0, "t0") + &result("t0")));
        bench.stream.settle(true);
        bench.read(&(call(0, "t1") + &result("t1")));
        bench.end();
        let asked = bench.asked();
        for batch in &asked {
            bench.reply(batch, Duration::ZERO);
        }
        let labels: Vec<_> = bench.written.items[4..].to_vec();
        assert_eq!(labels, ["label t0", "label t1"], "{placing:?}");
    }
}

#[test]
fn recorded_labels_are_not_requested_again() {
    let labeler = model();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let digest = {
        let mut bench = Bench::new(Placing::WhenReady, &labeler, None);
        bench.read(&turns(0..1));
        bench.end();
        let batch = bench.asked().remove(0);
        batch.digest(&[ToolUseId::from("t0")])
    };
    let label = |id: &str, calls: &str| {
        format!(
            r#"{{"type":"tool_use_summary","summary":"Read it","preceding_tool_use_ids":["{id}"],"uuid":"u","turnpipe":{{"v":1,"model":"m"{calls}}}}}"#
        ) + "\n"
    };
    let beside = crate::session::record::side_file_path(&path);
    let digest = format!(r#","calls":"{digest}""#);
    // The second one has the digest of another call, the third one has none.
    let recorded = label("t0", &digest) + &label("t1", &digest) + &label("t2", "");
    std::fs::write(&beside, recorded).unwrap();
    for placing in [
        Placing::WhenReady,
        Placing::BeforeNextMessage(Duration::from_mins(1)),
    ] {
        let recorded = RecordedLabels::read(&path).unwrap();
        let mut bench = Bench::new(placing, &labeler, Some(recorded));
        bench.read(&turns(0..3));
        bench.end();
        let asked = bench.asked();
        let ids: Vec<&str> = asked
            .iter()
            .map(|batch| batch.calls[0].id.as_str())
            .collect();
        assert_eq!(ids, ["t1"], "{placing:?}");
        bench.reply(&asked[0], Duration::ZERO);
        let labels = bench
            .written
            .items
            .iter()
            .filter(|item| item.starts_with("label"));
        assert_eq!(labels.count(), 3, "{placing:?}");
    }
}
