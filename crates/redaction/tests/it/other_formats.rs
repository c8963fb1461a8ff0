//! Masking by keys in files of logins, XML and HCL.

use redaction::Syntax;

use crate::formats::check;

#[test]
fn files_of_logins_lose_their_passwords() {
    check(
        Syntax::Netrc,
        &[
            (
                "machine h login u password p\n# machine x password q\n",
                "machine h login u password \"[redacted password tiny]\"\n# machine x password \"[redacted password tiny]\"\n",
            ),
            (
                "machine h\n  login password\n  password \"a b\"\ndefault login anonymous\n",
                "machine h\n  login password\n  password \"[redacted password tiny]\"\ndefault login anonymous\n",
            ),
        ],
    );
    check(
        Syntax::Pgpass,
        &[(
            "# hostname:port:database:username:password of it\nh\\:x:5432:db:u:a:b\n",
            "# hostname:port:database:username:password of it\nh\\:x:5432:db:u:[redacted password tiny]\n",
        )],
    );
    check(
        Syntax::Htpasswd,
        &[(
            "u:$apr1$x$y\n#v:{SHA}abc\n",
            "u:[redacted password short]\n#v:[redacted password short]\n",
        )],
    );
}

#[test]
fn xml_and_hcl_values_are_masked() {
    check(
        Syntax::Xml,
        &[
            (
                "<a><password>x</password><b>y</b></a>",
                "<a><password>[redacted password tiny]</password><b>y</b></a>",
            ),
            (
                "<add key=\"ApiKey\" value=\"x\"/><add key=\"Host\" value=\"y\"/>",
                "<add key=\"ApiKey\" value=\"[redacted api-key tiny]\"/><add key=\"Host\" value=\"y\"/>",
            ),
            (
                "<x password='p' user='u'><![CDATA[t]]></x>",
                "<x password='[redacted password tiny]' user='u'><![CDATA[t]]></x>",
            ),
            (
                "<p><name>db.password</name><value>x</value></p>",
                "<p><name>db.password</name><value>[redacted password tiny]</value></p>",
            ),
            (
                "<dict><key>Token</key><string>x</string><key>A</key><string>y</string></dict>",
                "<dict><key>Token</key><string>[redacted token tiny]</string><key>A</key><string>y</string></dict>",
            ),
            (
                "<!-- <password>x</password> --><a/>",
                "<!-- <password>[redacted password tiny]</password> --><a/>",
            ),
        ],
    );
    check(
        Syntax::Hcl,
        &[
            (
                "password = \"x\"\nhost = \"y\"\n",
                "password = \"[redacted password tiny]\"\nhost = \"y\"\n",
            ),
            (
                "variable \"db_password\" {\n  default = \"x\"\n  type = \"string\"\n}\n",
                "variable \"db_password\" {\n  default = \"[redacted password tiny]\"\n  type = \"string\"\n}\n",
            ),
            (
                "resource \"a\" \"b\" {\n  token = var.token # secret = \"q\"\n  pw = { password = 5, x = 1 }\n}\n",
                "resource \"a\" \"b\" {\n  token = var.token # secret = \"[redacted secret tiny]\"\n  pw = { password = \"[redacted password tiny]\", x = 1 }\n}\n",
            ),
            (
                "secret = <<-EOF\n  a\n  b\n  EOF\nx = 1\n",
                "secret = <<-EOF\n[redacted secret tiny]\n  EOF\nx = 1\n",
            ),
            (
                "password = file(\"x\")\ntoken = base64encode(\"y\")\n",
                "password = file(\"x\")\ntoken = base64encode(\"[redacted token tiny]\")\n",
            ),
            (
                "password = \"${var.a}\"\ntokens = [\"a\"]\n",
                "password = \"${var.a}\"\ntokens = [\"[redacted token tiny]\"]\n",
            ),
        ],
    );
}
