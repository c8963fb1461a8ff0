//! Secrets that a neighbour gives away: `name`/`value` pairs, `NAME=value` elements, options of
//! commands, and the data of Kubernetes Secrets.

use crate::judge::KeyContext;
use crate::secret::SecretKind;
use crate::values::{is_harmless, is_path};

use super::{Finding, Frame, ScalarToken, Walk, is_private_key_block};

impl<'t> Walk<'t, '_> {
    /// The secret in an element `NAME=value`, or behind an element `--name`.
    pub(super) fn find_in_list(&mut self, token: &ScalarToken<'t>) -> Option<Finding> {
        let judge = self.judge;
        let frame = self.frames.last_mut()?;
        if let Some(option) = frame.option.take()
            && !token.value.starts_with('-')
            && let Some(kind) = judge.kind_of(KeyContext::Neutral, &option, &token.value)
        {
            return Some(self.masked(token, kind));
        }
        let (name, value) = match token.value.split_once('=') {
            Some(pair) => pair,
            None if frame.is_list && token.value.starts_with("--") && token.value.len() < 64 => {
                frame.option = Some(token.value.trim_start_matches('-').to_owned());
                return None;
            }
            None => return None,
        };
        let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
        if name.is_empty() || name.len() > 128 || !name.bytes().all(is_name_byte) {
            return None;
        }
        let kind = judge.kind_of(KeyContext::Neutral, name.trim_start_matches('-'), value)?;
        let kind = SecretKind::Key(kind);
        let masked = format!("{name}={}", judge.writer.mask(kind, value));
        Some(Finding { range: token.range.clone(), kind, mask: token.quoting.write(&masked) })
    }

    /// Keeps a value of `data` until the kind of what it stands in is known.
    pub(super) fn keep_for_kubernetes(&mut self, token: &ScalarToken<'t>) {
        let is_value = !is_harmless(&token.value)
            && !is_path(&token.value)
            && !is_private_key_block(&token.value);
        if is_value && self.is_kubernetes_data() {
            let finding = self.masked(token, "kubernetes-secret");
            let above = self.frames.len() - 2;
            self.frames[above].of_kubernetes.push(finding);
        }
    }

    /// Keeps a value that is no secret by itself, as far as a neighbour may need it.
    pub(super) fn remember(&mut self, token: ScalarToken<'t>) {
        let Some(frame) = self.frames.last_mut() else { return };
        if frame.is_list {
            return;
        }
        match frame.key.as_ref() {
            "kind" => frame.is_kubernetes_secret = token.value == "Secret",
            "name" | "Name" | "key" | "Key" | "ParameterKey" => {
                frame.name = Some(token.value);
                if let Some(unnamed) = frame.unnamed.take() {
                    self.judge_pair(&unnamed);
                }
            }
            "value" | "Value" | "ParameterValue" if frame.name.is_some() => self.judge_pair(&token),
            "value" | "Value" | "ParameterValue" => frame.unnamed = Some(token),
            _ => {}
        }
    }

    /// Judges the value of a pair by its name.
    fn judge_pair(&mut self, token: &ScalarToken<'t>) {
        let Some(name) = self.frames.last().and_then(|frame| frame.name.as_deref()) else { return };
        if let Some(kind) = self.judge.kind_of(KeyContext::Neutral, name, &token.value) {
            let finding = self.masked(token, kind);
            self.findings.secrets.push(finding);
        }
    }

    /// The name of the pair whose value comes next.
    pub(crate) fn pair_name(&self) -> Option<&str> {
        let frame = self.frames.last()?;
        let is_value = ["value", "Value", "ParameterValue"].contains(&frame.key.as_ref());
        if is_value { frame.name.as_deref() } else { None }
    }

    /// Whether the next value stands in `data` or `stringData`.
    fn is_kubernetes_data(&self) -> bool {
        let above = self.frames.len().checked_sub(2).and_then(|at| self.frames.get(at));
        above.is_some_and(|above| {
            !above.is_list && ["data", "stringData"].contains(&above.key.as_ref())
        })
    }

    /// Whether the next value is an element of `services: {name: {secrets: […]}}`, where Docker
    /// Compose has the names of secrets.
    pub(super) fn is_list_of_secret_names(&self) -> bool {
        let mut frames = self.frames.iter().rev();
        let is_list = frames.next().is_some_and(|frame| frame.is_list);
        let is_secrets = frames.next().is_some_and(|frame| frame.key == "secrets");
        is_list && is_secrets && frames.nth(1).is_some_and(|frame| frame.key == "services")
    }

    /// Decides about what a closed frame left open.
    pub(super) fn settle(&mut self, frame: Frame<'t>) {
        if frame.is_kubernetes_secret {
            self.findings.secrets.extend(frame.of_kubernetes);
        }
    }
}
