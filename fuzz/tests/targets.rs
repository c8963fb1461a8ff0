//! Runs every target on 20,000 inputs, each in a process of its own: what it leaves behind is its
//! own, and a stack overflow ends that process only.

use std::process::Command;

use fuzz::TARGETS;

fn run(target: &str) {
    let output = Command::new(env!("CARGO_BIN_EXE_fuzz")).arg(target).output();
    let output = output.expect("the program starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "target {target}: {}\n{told}", output.status);
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            run(stringify!($name));
        })*

        #[test]
        fn every_target_has_a_test() {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

targets! { conversation cursor frame glob template upstream uri window }
