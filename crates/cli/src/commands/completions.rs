//! `refdesk completions`: shell completion scripts, which ask refdesk and its server at each Tab.

use clap_complete::env::{Elvish, EnvCompleter, Fish, Powershell, Zsh};

use crate::args::CompletionsArgs;
use crate::output;

/// The script for bash. It takes the line apart itself, at spaces outside of quotes, because bash
/// ends words at colons and equals signs, which URIs and arguments have, and replaces only what is
/// behind the last of them.
const BASH: &str = r#"_refdesk() {
    local line="${COMP_LINE:0:COMP_POINT}"
    local -a words
    local current="" quote="" letter
    local -i at
    for ((at = 0; at < ${#line}; at++)); do
        letter="${line:at:1}"
        if [[ -z $quote && $letter == [[:space:]] ]]; then
            [[ -n $current ]] && words+=("$current")
            current=""
            continue
        fi
        if [[ $letter == "$quote" ]]; then
            quote=""
        elif [[ -z $quote && $letter == [\'\"] ]]; then
            quote="$letter"
        fi
        current+="$letter"
    done
    words+=("$current")
    local IFS=$'\013'
    COMPREPLY=( $( \
        COMPLETE=bash _CLAP_IFS="$IFS" _CLAP_COMPLETE_INDEX="$((${#words[@]} - 1))" \
        _CLAP_COMPLETE_COMP_TYPE="${COMP_TYPE}" _CLAP_COMPLETE_SPACE=true \
        "${words[0]}" -- "${words[@]}" 2> /dev/null \
    ) )
    local kept="${current%"${current##*[:=]}"}"
    COMPREPLY=( "${COMPREPLY[@]#"$kept"}" )
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/=] ]]; then
        compopt -o nospace 2> /dev/null
    fi
}
complete -o bashdefault -F _refdesk refdesk
"#;

/// Prints the completion script of one shell.
pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<()> {
    let shell: &dyn EnvCompleter = match args.shell {
        clap_complete::Shell::Bash => return output::print(BASH),
        clap_complete::Shell::Zsh => &Zsh,
        clap_complete::Shell::Fish => &Fish,
        clap_complete::Shell::Elvish => &Elvish,
        clap_complete::Shell::PowerShell => &Powershell,
        other => anyhow::bail!("there is no completion for {other}"),
    };
    let mut script = Vec::new();
    shell.write_registration("COMPLETE", "refdesk", "refdesk", "refdesk", &mut script)?;
    output::print(&String::from_utf8(script)?)
}
