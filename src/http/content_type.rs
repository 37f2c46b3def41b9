//! What a server says that it sends.

/// The kinds of content that answers come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentType {
    /// One JSON value.
    Json,
    /// Server-sent events.
    EventStream,
    /// JSON values, one a line.
    JsonLines,
    /// A web page: somebody else is answering.
    Html,
    /// Something else.
    Other,
    /// The server does not say.
    Unsaid,
}

impl ContentType {
    /// Reads a `content-type`; parameters and case do not matter.
    pub fn of(header: Option<&str>) -> Self {
        let Some(header) = header else {
            return Self::Unsaid;
        };
        let essence = header.split(';').next().unwrap_or_default().trim();
        let essence = essence.to_ascii_lowercase();
        match essence.as_str() {
            "" => Self::Unsaid,
            "text/event-stream" => Self::EventStream,
            "application/x-ndjson"
            | "application/ndjson"
            | "application/jsonl"
            | "application/x-jsonlines"
            | "application/json-lines" => Self::JsonLines,
            "text/html" | "application/xhtml+xml" => Self::Html,
            "application/json" | "text/json" => Self::Json,
            other if other.ends_with("+json") => Self::Json,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_case_do_not_matter() {
        let rows = [
            (Some("application/json"), ContentType::Json),
            (Some("Application/JSON; charset=utf-8"), ContentType::Json),
            (Some("application/problem+json"), ContentType::Json),
            (
                Some("text/event-stream;charset=utf-8"),
                ContentType::EventStream,
            ),
            (Some("application/x-ndjson"), ContentType::JsonLines),
            (Some("text/html"), ContentType::Html),
            (Some("text/plain"), ContentType::Other),
            (Some(""), ContentType::Unsaid),
            (None, ContentType::Unsaid),
        ];
        for (header, expected) in rows {
            assert_eq!(ContentType::of(header), expected, "{header:?}");
        }
    }
}
