use super::*;

#[test]
fn values_of_file_variables_are_paths() {
    assert!(!is_secret("ROOT_PASSWORD_FILE", "/run/secrets/root"));
    assert!(is_secret("ROOT_PASSWORD_FILE", "canary"));
    assert!(is_secret("ROOT_PASSWORD", "/run/secrets/root"));
    assert!(!is_secret("REDIS_URL", "redis://localhost:6379"));
    assert!(is_secret("API_TOKEN", "true"));
}

#[test]
fn all_shapes_compile_and_have_a_source() {
    for shape in SECRETS.shapes {
        LazyLock::force(&shape.rest);
        assert!(shape.at.iter().all(|at| at.len() >= 2), "{:?}", shape.at);
    }
    let table: toml::Table = toml::from_str(include_str!("secrets.toml")).unwrap();
    for shape in table["shape"].as_array().unwrap() {
        assert!(shape["source"].as_str().unwrap().starts_with("https://"));
        assert!(!shape["of"].as_str().unwrap().is_empty());
    }
}
