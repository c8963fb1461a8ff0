//! The documentation has the table of the rules as they are.

use doctor::{RULE_TABLE_END, RULE_TABLE_START, rules_table};

#[test]
fn the_documentation_lists_every_rule() {
    let text = include_str!("../../../../docs/doctor.md");
    let (_, rest) = text.split_once(RULE_TABLE_START).expect("docs/doctor.md has the table");
    let (table, _) = rest.split_once(RULE_TABLE_END).expect("docs/doctor.md ends the table");
    assert_eq!(table.trim(), rules_table().trim(), "write it anew with: refdesk doctor --rules");
}
