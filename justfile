# Recipes, each one line. None of them is needed: `./check` is plain shell.

_:
    @just --list

# all checks, as a merge must pass them
ci:
    ./check

# types and lints only
check:
    cargo clippy --workspace --all-targets -- -D warnings

test *ARGS:
    cargo test --workspace {{ARGS}}

fmt:
    cargo fmt --all

# accept what the snapshots show
snap:
    INSTA_UPDATE=always cargo test --workspace

serve *ARGS:
    cargo run --release -- serve {{ARGS}}

# interoperability tests: other MCP implementations and the official conformance suite
conform:
    cargo build && interop/run "$(cargo metadata --format-version 1 --no-deps | python3 -c 'import json,sys; print(json.load(sys.stdin)["target_directory"])')/debug/refdesk"

# refdesk beside a minimal server on the official SDK, in one run
bench *ARGS:
    cargo build --release --package refdesk --package bench && cargo run --release --package bench --bin bench -- {{ARGS}}

# a million inputs for every fuzz target
fuzz COUNT="1000000":
    for target in $(cargo run --release --package fuzz); do cargo run --release --package fuzz -- "$target" --count {{COUNT}} || exit 1; done
    FUZZ_COUNT={{COUNT}} cargo test --release --package client --package providers --package refdesk --lib --bins any_

# a hundred thousand comparisons of the ignore rules with those of git
ignore-rules COUNT="100000":
    GIT_COMPARISONS={{COUNT}} cargo test --release --package providers --lib files_are_hidden_exactly

# licences, bans, sources (cargo install --locked cargo-deny)
deny:
    cargo deny check bans licenses sources

docs:
    cargo doc --workspace --no-deps --open
