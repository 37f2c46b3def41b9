//! Checks records against their schemas.

use boon::{Compiler, Schemas};
use serde_json::Value;

/// Fails unless the record matches the schema of this name.
pub(crate) fn assert_fits(name: &str, record: &Value) {
    let schema = turnpipe::records::schema(name);
    assert!(schema.is_some(), "there is no schema {name}");
    let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
    compiler
        .add_resource("schema:///", schema.unwrap())
        .unwrap();
    let index = compiler.compile("schema:///", &mut schemas).unwrap();
    let result = schemas.validate(record, index);
    assert!(result.is_ok(), "{name}: {result:?}: {record}");
}
