//! The one function of the C mathematics library that the program uses, linked in.
//!
//! Progress bars call `pow` to guess how long something will take. Nothing else here needs the
//! library, and finding, mapping and relocating it at every start is a tenth of the run time of a
//! small command (docs/performance.md). A definition in the program goes before the library's.

// SAFETY: `pow` has the signature and the meaning of the C function whose name it takes; whoever
// calls that one is served as well by this one.
#[cfg(target_os = "linux")]
#[unsafe(no_mangle)]
extern "C" fn pow(base: f64, exponent: f64) -> f64 {
    libm::pow(base, exponent)
}

#[cfg(test)]
mod tests {
    #[test]
    fn powers_are_powers() {
        let two = std::hint::black_box(2.0_f64);
        assert!((two.powf(0.5) - std::f64::consts::SQRT_2).abs() < 1e-15);
        assert!((two.powf(10.0) - 1024.0).abs() < 1e-12);
    }
}
