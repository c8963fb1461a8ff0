//! Health under access rules: without the facts that tell of what is denied.

use resource::{ComponentKind, Context, Health, HealthFact, HealthStatus};

use super::{AllowedProvider, class_of};
use crate::access::MethodClass;

/// The facts that are told to a principal to whom something may be denied. Others count resources, or
/// repeat errors about them, or instructions of a server, which name what it has. A provider that judges a fact by the principal itself has it here.
const TOLD_FACTS: [&str; 5] = ["era", "revision", "server", "capabilities", "pageErrors"];

impl Health for AllowedProvider {
    fn health(&self, ctx: &Context) -> HealthStatus {
        let health = self.inner.facets().health;
        let mut status = health.map_or_else(HealthStatus::ready, |health| health.health(ctx));
        if MethodClass::ALL.into_iter().any(|class| self.gate.may_deny_some(ctx, class)) {
            status.cause = None;
            status.facts.retain(|(name, _)| TOLD_FACTS.contains(name));
            for (name, fact) in &mut status.facts {
                if let ("capabilities", HealthFact::Group(kinds)) = (*name, fact) {
                    kinds.retain(|(kind, _)| self.may_use(ctx, kind));
                }
            }
        }
        status
    }

    fn is_available(&self, ctx: &Context) -> bool {
        self.inner.facets().health.is_none_or(|health| health.is_available(ctx))
    }
}

impl AllowedProvider {
    /// Whether the principal may use anything of a kind that a server declares.
    fn may_use(&self, ctx: &Context, kind: &str) -> bool {
        match kind {
            "resources" => [MethodClass::List, MethodClass::Read]
                .into_iter()
                .any(|class| self.may_reach(ctx, class)),
            "tools" => self.may_reach(ctx, class_of(ComponentKind::Tool)),
            "prompts" => self.may_reach(ctx, class_of(ComponentKind::Prompt)),
            "completions" => self.may_reach(ctx, MethodClass::Complete),
            _ => true,
        }
    }
}
