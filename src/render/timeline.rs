//! A timeline of calls: a bar for each, with parallel calls in separate lanes.

use jiff::{SignedDuration, Timestamp};

use super::page::{escape_line, trim_fraction};
use super::{Section, ToolUse};
use crate::agent::timestamp;
use crate::session::describe_call;
use crate::text::{append, fit_columns};

/// Maximum drawn length of a pause, and of a call.
const MAX_PAUSE: SignedDuration = SignedDuration::from_secs(5);
const MAX_CALL: SignedDuration = SignedDuration::from_mins(5);

/// Minimum width, and minimum width per call. All sizes are in pixels.
const WIDTH: u32 = 800;
const WIDTH_PER_CALL: u32 = 6;
const MIN_BAR: f64 = 3.0;
const LANE: usize = 14;
const BAR: usize = 10;

/// Maximum width of the gist of a call, in columns.
const GIST_COLUMNS: usize = 80;

/// The calls of a session.
#[derive(Debug, Default)]
pub struct Timeline {
    bars: Vec<Bar>,
}

#[derive(Debug)]
struct Bar {
    start: Timestamp,
    end: Timestamp,
    class: &'static str,
    /// The number of its message.
    message: u64,
    /// The tooltip, escaped.
    about: String,
}

impl Timeline {
    /// Adds the calls of a section that have recorded times.
    pub fn add_section(&mut self, section: &Section, cwd: Option<&str>) {
        let Section::Tools(group) = section else {
            return;
        };
        for tool in &group.calls {
            self.bars.extend(bar_of_call(tool, cwd));
            tool.subagent
                .iter()
                .for_each(|section| self.add_section(section, cwd));
        }
    }

    /// Formats the timeline as SVG; empty without recorded times.
    pub(super) fn markup(&self) -> String {
        let mut bars: Vec<&Bar> = self.bars.iter().collect();
        bars.sort_by_key(|bar| bar.start);
        let Some(first) = bars.first() else {
            return String::new();
        };
        // The latest end so far: on the axis, and as a time.
        let (mut axis, mut latest) = (0.0, first.start);
        let spans: Vec<(f64, f64)> = bars
            .iter()
            .map(|bar| {
                let pause = bar.start.duration_since(latest);
                let start = axis + pause.min(MAX_PAUSE).as_secs_f64();
                let end = start + drawn_length(bar).as_secs_f64();
                if end > axis {
                    (axis, latest) = (end, bar.start + drawn_length(bar));
                }
                (start, end)
            })
            .collect();
        let count = u32::try_from(bars.len()).unwrap_or(u32::MAX);
        let width = WIDTH.max(count.saturating_mul(WIDTH_PER_CALL));
        let scale = (f64::from(width) - MIN_BAR) / axis.max(1.0);
        let mut lanes: Vec<f64> = Vec::new();
        let mut drawing = String::new();
        for (bar, (start, end)) in bars.iter().zip(spans) {
            let free = lanes.iter().position(|taken| *taken <= start);
            let lane = free.unwrap_or(lanes.len());
            lanes.resize(lanes.len().max(lane + 1), 0.0);
            lanes[lane] = end;
            append!(
                drawing,
                "<a href=\"#m{}\"><rect class=\"{}\" x=\"{:.1}\" y=\"{}\" width=\"{:.1}\" \
                 height=\"{BAR}\"><title>{}</title></rect></a>\n",
                bar.message,
                bar.class,
                start * scale,
                lane * LANE,
                ((end - start) * scale).max(MIN_BAR),
                bar.about
            );
        }
        format!(
            "<nav class=\"timeline\" aria-label=\"Calls by time\">\n\
             <svg width=\"{width}\" height=\"{}\">\n{drawing}</svg>\n</nav>\n",
            lanes.len() * LANE
        )
    }
}

fn bar_of_call(tool: &ToolUse, cwd: Option<&str>) -> Option<Bar> {
    let time = |time: &Option<String>| timestamp(time.as_deref());
    let start = time(&tool.position.time)?;
    let answer = tool.result.as_ref();
    let answered = answer.and_then(|(_, position)| time(&position.time));
    let end = answered.unwrap_or(start).max(start);
    let gist = fit_columns(&describe_call(&tool.call, cwd), GIST_COLUMNS);
    let seconds = end.duration_since(start).as_secs_f64();
    Some(Bar {
        start,
        end,
        class: match answer {
            Some((result, _)) if result.failed => "failed",
            _ => "done",
        },
        message: tool.position.message,
        about: escape_line(&format!(
            "{} {gist} · {seconds:.1} s · {}",
            tool.call.name,
            trim_fraction(&start.to_string())
        )),
    })
}

/// Returns the drawn length of a call.
fn drawn_length(bar: &Bar) -> SignedDuration {
    bar.end.duration_since(bar.start).min(MAX_CALL)
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;
    use crate::message::{Call, ToolResult};
    use crate::render::{Position, ToolGroup};

    fn tool(number: u64, start: &str, end: &str) -> ToolUse {
        let at = |message, time: &str| Position {
            message,
            is_first: true,
            time: Some(format!("2026-01-01T{time}Z")),
        };
        ToolUse {
            call: Call {
                id: String::new(),
                name: "Bash".to_owned(),
                signature: None,
                input: RawValue::from_string("{\"command\":\"a<b\"}".to_owned()).unwrap(),
            },
            position: at(number, start),
            result: Some((
                ToolResult {
                    id: String::new(),
                    parts: Vec::new(),
                    failed: number == 3,
                    end: None,
                },
                at(number, end),
            )),
            subagent: Vec::new(),
        }
    }

    #[test]
    fn parallel_calls_have_lanes_and_pauses_are_cut() {
        let mut timeline = Timeline::default();
        assert_eq!(timeline.markup(), "");
        let calls = vec![
            tool(1, "10:00:00", "10:00:10"),
            tool(2, "10:00:00", "10:00:05"),
            // Three hours later, and for two hours.
            tool(3, "13:00:05", "15:00:05"),
            // Its clock went backwards.
            tool(4, "15:00:10", "15:00:00"),
        ];
        let group = ToolGroup { label: None, calls };
        timeline.add_section(&Section::Tools(group), None);
        let page = timeline.markup();
        let bars: Vec<&str> = page.lines().filter(|line| line.contains("<rect")).collect();
        // 10 s, a pause of 5 s, 300 s, a pause of 5 s.
        let expected = [
            ("#m1", "x=\"0.0\" y=\"0\" width=\"24.9\"", "10.0 s"),
            ("#m2", "x=\"0.0\" y=\"14\" width=\"12.5\"", "5.0 s"),
            ("#m3", "x=\"37.4\" y=\"0\" width=\"747.2\"", "7200.0 s"),
            ("#m4", "x=\"797.0\" y=\"0\" width=\"3.0\"", "0.0 s"),
        ];
        assert_eq!(bars.len(), expected.len(), "{page}");
        for (bar, (link, position, length)) in bars.iter().zip(expected) {
            for part in [link, position, length, "Bash a&lt;b"] {
                assert!(bar.contains(part), "{part}: {bar}");
            }
        }
        assert!(bars[2].contains("class=\"failed\""), "{page}");
        assert!(page.contains("height=\"28\""), "{page}");
    }
}
