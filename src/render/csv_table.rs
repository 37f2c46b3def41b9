//! Records as CSV (RFC 4180), for spreadsheets.

use serde::Serialize;
use serde_json::{Map, Value};

/// Writes a header and a row for each record. The members of nested objects are columns; lists and the type of the
/// record are left out, and an absent value is empty.
///
/// # Errors
/// A record is not an object.
pub(crate) fn csv_table<Record: Serialize>(records: &[Record]) -> anyhow::Result<String> {
    let converted = records.iter().map(|record| {
        let mut row = Map::new();
        collect_columns(serde_json::to_value(record)?, &mut row);
        anyhow::Ok(row)
    });
    let rows = converted.collect::<Result<Vec<_>, _>>()?;
    let mut heads: Vec<&String> = Vec::new();
    for head in rows.iter().flat_map(Map::keys) {
        if !heads.contains(&head) {
            heads.push(head);
        }
    }
    let mut table = csv::Writer::from_writer(Vec::new());
    if !heads.is_empty() {
        table.write_record(&heads)?;
    }
    for row in &rows {
        let cells = heads.iter().map(|head| match row.get(*head) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        });
        table.write_record(cells)?;
    }
    Ok(String::from_utf8(table.into_inner()?)?)
}

/// Adds the values of an object and of the objects in it, by their names.
fn collect_columns(record: Value, row: &mut Map<String, Value>) {
    let Value::Object(members) = record else {
        return;
    };
    for (name, value) in members {
        match value {
            Value::Object(_) => collect_columns(value, row),
            Value::Array(_) => {}
            _ if name == "type" => {}
            _ => {
                row.insert(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_are_the_names_of_values() {
        let rows = [
            json!({"type": "t", "dimensions": {"day": "2026-01-01"}, "usage": {"input_tokens": 3}, "list": [1]}),
            json!({"dimensions": {"day": null}, "usage": {"input_tokens": 4, "cost_usd": 0.5}}),
            json!({"dimensions": {"day": "a,\"b\""}}),
        ];
        let table = "day,input_tokens,cost_usd\n2026-01-01,3,\n,4,0.5\n\"a,\"\"b\"\"\",,\n";
        assert_eq!(csv_table(&rows).unwrap(), table);
        assert_eq!(csv_table::<Value>(&[]).unwrap(), "");
    }
}
