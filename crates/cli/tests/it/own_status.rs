//! Tests of the resources that tell who uses the program: `refdesk://clients`.

use serde_json::{Value, json};

use crate::program::{StdioProgram, project, refdesk};

const OWN: &str = "refdesk://clients";

fn clients(desk: &mut StdioProgram) -> Value {
    let answer = desk.request("resources/read", json!({ "uri": OWN }));
    serde_json::from_str(answer["result"]["contents"][0]["text"].as_str().unwrap()).unwrap()
}

#[test]
fn the_program_tells_who_is_connected_and_costs_no_model_a_token_for_it() {
    let folder = project();
    let mut desk = StdioProgram::start(refdesk(folder.path(), &["serve", "--stdio", "project"]));
    let readme = json!({ "uri": "file:///project/README.md" });
    desk.request("resources/read", readme.clone());
    let call = json!({ "name": "resources_read", "arguments": { "uri": "file:///none" } });
    desk.request("tools/call", call);
    let told = clients(&mut desk);
    let [client] = &told["clients"].as_array().unwrap()[..] else { panic!("{told}") };
    assert_eq!((&client["transport"], &client["principal"]), (&json!("stdio"), &json!("local")));
    assert_eq!((&client["requests"], &client["errors"]), (&json!(2), &json!(1)), "{told}");
    let recent = told["recent"].as_array().unwrap();
    assert_eq!(recent[0]["tool"], "resources_read", "{told}");
    assert_eq!(recent[0].get("uri"), None, "no arguments");
    assert_eq!(recent[1]["uri"], readme["uri"]);
    let listed = desk.request("resources/list", json!({})).to_string();
    let templates = desk.request("resources/templates/list", json!({})).to_string();
    let tools = desk.request("tools/list", json!({})).to_string();
    let about = desk.request("server/discover", json!({})).to_string();
    for text in [listed, templates, tools, about] {
        assert!(!text.contains(OWN), "{text}");
    }
    let stat = desk.request("resources/metadata", json!({ "uri": OWN }));
    assert_eq!(stat["result"]["resource"]["mimeType"], "application/json", "{stat}");
    assert!(desk.close().0);
}
