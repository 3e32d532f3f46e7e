// A server whose JSON reader finds members without regard to case, as every Go struct does. It says what it ran.
package main

import (
	"context"
	"encoding/json"
	"log"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func ran(name string) server.ToolHandlerFunc {
	return func(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		given, err := json.Marshal(request.GetRawArguments())
		if err != nil {
			return nil, err
		}
		return mcp.NewToolResultText("ran " + name + " " + string(given)), nil
	}
}

func main() {
	s := server.NewMCPServer("folding", "1")
	s.AddTool(mcp.NewTool("go_echo", mcp.WithString("text")), ran("go_echo"))
	s.AddTool(mcp.NewTool("secret"), ran("secret"))
	s.AddTool(
		mcp.NewTool("read_file", mcp.WithString("path"), mcp.WithObject("options", mcp.Properties(map[string]any{
			"task": map[string]any{"type": "string"},
		}))),
		func(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var given struct {
				Path    string `json:"path"`
				Options struct {
					Task string `json:"task"`
				} `json:"options"`
			}
			if err := request.BindArguments(&given); err != nil {
				return nil, err
			}
			return mcp.NewToolResultText("read " + given.Path + " for " + given.Options.Task), nil
		},
	)
	prompt := func(name string) server.PromptHandlerFunc {
		return func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			text := mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent("prompt "+name))
			return mcp.NewGetPromptResult(name, []mcp.PromptMessage{text}), nil
		}
	}
	s.AddPrompt(mcp.NewPrompt("open"), prompt("open"))
	s.AddPrompt(mcp.NewPrompt("closed"), prompt("closed"))
	read := func(_ context.Context, request mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: request.Params.URI, Text: "contents of " + request.Params.URI}}, nil
	}
	s.AddResource(mcp.NewResource("memo://open", "open"), read)
	s.AddResource(mcp.NewResource("memo://closed", "closed"), read)
	if err := server.ServeStdio(s); err != nil {
		log.Fatal(err)
	}
}
