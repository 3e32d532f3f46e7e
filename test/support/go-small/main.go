// A stdio server with one tool, without packages of others: tests of builds build it in a second, and need no network.
package main

import (
	"encoding/json"
	"os"
)

type object = map[string]any

func main() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var asked struct {
			ID     any
			Method string
			Params struct{ Arguments object }
		}
		if in.Decode(&asked) != nil {
			return
		}
		if asked.ID == nil {
			continue
		}
		reply := object{"jsonrpc": "2.0", "id": asked.ID}
		switch asked.Method {
		case "initialize":
			reply["result"] = object{
				"protocolVersion": "2025-11-25",
				"capabilities":    object{"tools": object{}},
				"serverInfo":      object{"name": "small", "version": "1"},
			}
		case "tools/list":
			reply["result"] = object{"tools": []object{{"name": "go_echo", "inputSchema": object{"type": "object"}}}}
		case "tools/call":
			reply["result"] = object{"content": []object{{"type": "text", "text": asked.Params.Arguments["text"]}}}
		default:
			reply["error"] = object{"code": -32601, "message": "method not found"}
		}
		if out.Encode(reply) != nil {
			return
		}
	}
}
