//! Rules about paths: reads of `file://` URIs stay within what the server serves.

use super::{DoctorRule, DoctorSeverity, spec};

pub(super) const RULES: &[DoctorRule] = &[
    DoctorRule {
        id: "path-traversal",
        title: "No .. in a file URI leads out of what is served",
        severity: DoctorSeverity::Error,
        clause: spec(
            "2026-07-28",
            "Resources: Security considerations",
            "server/resources#security-considerations",
        ),
        explanation: "The doctor reads a harmless file, /etc/hostname, by steps up from a listed file:// URI or a file:// template: as .., as %2e%2e, as ..%2f, and encoded twice. Content came back that is not that of the resource. Any file of the machine can be read so. The doctor does not show the content.",
        next_step: "Decode the path once, resolve . and .. and symbolic links, and refuse what is not below the served folder.",
    },
    DoctorRule {
        id: "path-absolute",
        title: "A file URI outside of what is served is refused",
        severity: DoctorSeverity::Error,
        clause: spec(
            "2026-07-28",
            "Resources: Security considerations",
            "server/resources#security-considerations",
        ),
        explanation: "file:///etc/hostname has content, and the server lists no folder that it is in. A server that means to serve the whole machine should list its root.",
        next_step: "Read only paths below the folders that you serve.",
    },
    DoctorRule {
        id: "path-nul",
        title: "A NUL in a file URI is refused",
        severity: DoctorSeverity::Error,
        clause: spec(
            "2026-07-28",
            "Resources: Security considerations",
            "server/resources#security-considerations",
        ),
        explanation: "Some systems end a path at its first NUL: a check of the name sees one file, and the read opens another. The doctor reads a path with %00.",
        next_step: "Refuse URIs with %00.",
    },
];
