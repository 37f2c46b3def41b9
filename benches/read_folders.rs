//! The minimum cost of listing sessions. `benches/sessions.py` compiles it with `rustc -O`.
//!
//! usage: read_folders stat|ends FOLDER
//!   stat  reads the size and time of every file
//!   ends  opens every file, reads 64 KiB from each end, and closes it
//!
//! Prints the number of files.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

const END: usize = 64 * 1024;

fn main() {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [what, root] = arguments.as_slice() else {
        panic!("usage: read_folders stat|ends FOLDER");
    };
    let mut buffer = vec![0; END];
    println!("{}", count(Path::new(root), what == "ends", &mut buffer));
}

fn count(folder: &Path, read_ends: bool, buffer: &mut [u8]) -> u64 {
    let mut files = 0;
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files += count(&entry.path(), read_ends, buffer),
            Ok(_) if read_ends => files += u64::from(ends(&entry.path(), buffer).is_ok()),
            Ok(_) => {
                let known = entry.metadata().is_ok_and(|about| about.modified().is_ok());
                files += u64::from(known);
            }
            Err(_) => {}
        }
    }
    files
}

fn ends(path: &Path, buffer: &mut [u8]) -> std::io::Result<()> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    file.read_at(buffer, 0)?;
    if length > END as u64 {
        file.read_at(buffer, length - END as u64)?;
    }
    Ok(())
}
