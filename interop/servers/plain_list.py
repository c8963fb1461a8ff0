"""A server on stdio with a flat list in two pages and no lists of collections; with `--baskets` it keeps baskets."""

import json
import sys

URIS = ["note://box/today/会議.txt", "note://box/today/deep/b.txt", "note://box/c.txt", "memo:loose"]
PAGE = 2


def answer(method: str, params: dict, baskets: bool) -> dict | None:
    match method:
        case "initialize":
            capabilities = {"resources": {}} | ({"experimental": {"dev.refdesk/baskets": {}}} if baskets else {})
            info = {"name": "plain-list", "version": "1"}
            return {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info}
        case "ping":
            return {}
        case "resources/list":
            start = int(params.get("cursor", 0))
            page = [{"uri": encoded(uri), "name": uri.split("/")[-1]} for uri in URIS[start : start + PAGE]]
            more = {"nextCursor": str(start + PAGE)} if start + PAGE < len(URIS) else {}
            return {"resources": page} | more
        case "resources/read":
            text = f"the text of {params['uri']}\n"
            return {"contents": [{"uri": params["uri"], "mimeType": "text/plain", "text": text}]}
        case "dev.refdesk/baskets/save" if baskets and params["uris"] == ["note://box/c.txt"]:
            return {"uri": f"basket://{params['name']}"}
        case _:
            return None


def encoded(uri: str) -> str:
    """URIs are ASCII: other characters are percent-encoded."""
    return "".join(chr(byte) if byte < 128 else f"%{byte:02X}" for byte in uri.encode())


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = answer(message["method"], message.get("params") or {}, "--baskets" in sys.argv)
        reply = {"result": result} if result is not None else {"error": {"code": -32601, "message": "no such method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"]} | reply), flush=True)


if __name__ == "__main__":
    main()
