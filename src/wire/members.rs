//! Finds the members of objects, and the elements of arrays, in JSON that is known to be well-formed.
//!
//! What is not asked for is passed over without a look at it.
//! JSON that nobody has looked at yet is read by `serde_json` instead, which refuses what is wrong.

use std::borrow::Cow;

use memchr::memchr;

use super::object::Wtf8;
use crate::jsonl::value_end;

/// Reads well-formed JSON from its beginning.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Members<'a> {
    json: &'a str,
    /// Everything before was read.
    at: usize,
}

impl<'a> Members<'a> {
    /// The members of the object that `json` begins with; `None` if it is no object.
    pub(crate) fn of_object(json: &'a str) -> Option<Self> {
        json.starts_with('{').then_some(Self { json, at: 1 })
    }

    /// The elements of the array that `json` begins with; `None` if it is no array.
    pub(crate) fn of_array(json: &'a str) -> Option<Self> {
        json.starts_with('[').then_some(Self { json, at: 1 })
    }

    /// The next key; `None` at the end of the object. Its value has to be read before the next one.
    pub(crate) fn key(&mut self) -> Option<Cow<'a, [u8]>> {
        if !self.has_more() {
            return None;
        }
        let start = self.at;
        self.at = value_end(self.json.as_bytes(), start)?;
        let quoted = self.json.get(start..self.at)?;
        self.blanks();
        self.at += 1; // the colon
        self.blanks();
        let key = quoted.get(1..quoted.len() - 1)?;
        if memchr(b'\\', key.as_bytes()).is_none() {
            return Some(Cow::Borrowed(key.as_bytes()));
        }
        let unescaped: Wtf8<'a> = serde_json::from_str(quoted).ok()?;
        Some(unescaped.0)
    }

    /// Whether there is another element, or member.
    pub(crate) fn has_more(&mut self) -> bool {
        self.blanks();
        if self.byte() == Some(b',') {
            self.at += 1;
            self.blanks();
        }
        !matches!(self.byte(), None | Some(b']' | b'}'))
    }

    /// The value that comes next.
    pub(crate) fn value(&mut self) -> Option<&'a str> {
        let start = self.at;
        self.at = value_end(self.json.as_bytes(), start)?;
        self.json.get(start..self.at)
    }

    /// The members of the object that comes next; `None` if it is none. Where they end has to be
    /// told by [`Members::resume`].
    pub(crate) fn inner_object(&self) -> Option<Self> {
        (self.byte() == Some(b'{')).then_some(Self {
            json: self.json,
            at: self.at + 1,
        })
    }

    /// Goes on behind an inner object that was read to its end.
    pub(crate) fn resume(&mut self, inner: Self) {
        self.at = inner.at + 1;
    }

    fn byte(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.byte() {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::object::object;

    object! {
        /// Members with odd names among them.
        Odd { plain = "plain", other = "a\"\\", empty = "", letter = "\u{e9}" }
    }

    fn any_json() -> impl Strategy<Value = String> {
        let key = prop::sample::select(vec![
            r#""plain""#,
            r#""pl\u0061in""#,
            r#""a\"\\""#,
            r#""""#,
            r#""é""#,
            r#""\u00e9""#,
            r#""\ud800""#,
            r#""\\""#,
            r#""{""#,
        ]);
        let leaf = prop_oneof![
            prop::sample::select(vec!["1", "-0.5e+7", "1e999", "true", "false", "null"])
                .prop_map(str::to_owned),
            key.clone().prop_map(str::to_owned),
            any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        ];
        let blank = prop::sample::select(vec!["", "", "", " ", "\t\n", " \r"]);
        leaf.prop_recursive(4, 40, 6, move |inner| {
            let element = (blank.clone(), inner.clone(), blank.clone())
                .prop_map(|(before, value, after)| format!("{before}{value}{after}"));
            let member = (blank.clone(), key.clone(), blank.clone(), element.clone())
                .prop_map(|(before, key, after, value)| format!("{before}{key}{after}:{value}"));
            prop_oneof![
                (vec(element, 0..6), blank.clone()).prop_map(|(elements, blank)| {
                    if elements.is_empty() {
                        format!("[{blank}]")
                    } else {
                        format!("[{}]", elements.join(","))
                    }
                }),
                (vec(member, 0..6), blank.clone()).prop_map(|(members, blank)| {
                    if members.is_empty() {
                        format!("{{{blank}}}")
                    } else {
                        format!("{{{}}}", members.join(","))
                    }
                }),
            ]
        })
    }

    type Found<'a> = Option<[Option<&'a str>; 4]>;

    fn found(odd: Option<Odd<'_>>) -> Found<'_> {
        odd.map(|odd| {
            [odd.plain, odd.other, odd.empty, odd.letter]
                .map(|raw| raw.map(serde_json::value::RawValue::get))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_fast_road_finds_what_the_plain_one_finds(json in any_json()) {
            prop_assert_eq!(found(Odd::known(&json)), found(Odd::read(&json)), "{}", json);
        }

        #[test]
        fn so_it_is_in_lists(json in any_json()) {
            let raw = serde_json::from_str::<&serde_json::value::RawValue>(&json).unwrap();
            let plain: Vec<Found<'_>> = super::super::object::elements(Some(raw))
                .into_iter()
                .map(|raw| Some(found(Odd::read(raw.get())).unwrap_or_default()))
                .collect();
            let fast: Vec<Found<'_>> =
                Odd::list(Some(raw)).into_iter().map(|odd| found(Some(odd))).collect();
            prop_assert_eq!(fast, plain, "{}", json);
        }

        #[test]
        fn wrong_json_does_no_harm(json in any_json(), from in 0_usize..40, to in 0_usize..40) {
            let from = json.ceil_char_boundary(from.min(json.len()));
            let to = json.floor_char_boundary(json.len().saturating_sub(to)).max(from);
            let _ = Odd::known(&json[from..to]);
        }
    }
}
