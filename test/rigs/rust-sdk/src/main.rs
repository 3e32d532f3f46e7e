//! A server made with the Rust SDK, with the names that the protocol's conformance suite asks for as far as they suit
//! a small server. `server` speaks stdio, `server 127.0.0.1:PORT` streamable HTTP at /mcp.
#![allow(deprecated)]
use rmcp::{
    handler::server::ServerHandler,
    model::*,
    service::RequestContext,
    transport::stdio,
    transport::streamable_http_server::{
        session::local::LocalSessionManager, StreamableHttpServerConfig, StreamableHttpService,
    },
    ErrorData, RoleServer, ServiceExt,
};
use serde_json::{from_value, json, Value};
use std::{sync::Arc, time::Duration};

#[derive(Clone)]
struct Server;

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// A type of the SDK from the JSON that it stands for on the wire.
fn made<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    from_value(value).map_err(|cause| ErrorData::internal_error(cause.to_string(), None))
}

/// A result of the SDK, said to be whole: the SDK takes that away again before a client of an older revision.
fn whole<T: serde::de::DeserializeOwned>(mut value: Value) -> Result<T, ErrorData> {
    value["resultType"] = json!("complete");
    made(value)
}

fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

fn is_modern(cx: &RequestContext<RoleServer>) -> bool {
    cx.protocol_version()
        .is_some_and(|version| version.as_str() >= "2026-07-28")
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_prompts()
                .enable_resources()
                .enable_logging()
                .enable_completions()
                .build(),
        )
        .with_server_info(Implementation::new("rust-sdk-server", "1.0.0"))
        .with_instructions("Made with the Rust SDK.")
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let none = json!({ "type": "object", "properties": {} });
        let one = |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] });
        whole(json!({ "tools": [
            { "name": "test_simple_text", "description": "A text", "inputSchema": none },
            { "name": "test_image_content", "description": "An image", "inputSchema": none },
            { "name": "test_audio_content", "description": "A sound", "inputSchema": none },
            { "name": "test_embedded_resource", "description": "A resource in an answer", "inputSchema": none },
            { "name": "test_multiple_content_types", "description": "Content of several kinds", "inputSchema": none },
            { "name": "test_error_handling", "description": "Fails always", "inputSchema": none },
            { "name": "test_tool_with_logging", "description": "Logs while it works", "inputSchema": none },
            { "name": "test_tool_with_progress", "description": "Tells its progress", "inputSchema": none },
            { "name": "test_sampling", "description": "Asks for a completion", "inputSchema": one("prompt") },
            { "name": "test_elicitation", "description": "Asks the user", "inputSchema": one("message") },
        ] }))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let resource = json!({ "uri": "test://embedded-resource", "mimeType": "text/plain", "text": "This is an embedded resource content." });
        let result = match request.name.as_ref() {
            "test_simple_text" => text("This is a simple text response for testing."),
            "test_image_content" => whole(
                json!({ "content": [{ "type": "image", "data": PNG, "mimeType": "image/png" }] }),
            )?,
            "test_audio_content" => whole(
                json!({ "content": [{ "type": "audio", "data": WAV, "mimeType": "audio/wav" }] }),
            )?,
            "test_embedded_resource" => {
                whole(json!({ "content": [{ "type": "resource", "resource": resource }] }))?
            }
            "test_multiple_content_types" => whole(json!({ "content": [
                { "type": "text", "text": "Multiple content types test:" },
                { "type": "image", "data": PNG, "mimeType": "image/png" },
                { "type": "resource", "resource": resource },
            ] }))?,
            "test_error_handling" => CallToolResult::error(vec![ContentBlock::text(
                "This tool intentionally returns an error for testing",
            )]),
            "test_tool_with_logging" => log(&cx).await,
            "test_tool_with_progress" => progress(&cx).await,
            "test_sampling" => return sample(request, &cx).await,
            "test_elicitation" => return elicit(request, &cx).await,
            name => {
                return Err(ErrorData::invalid_params(
                    format!("unknown tool {name}"),
                    None,
                ))
            }
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        whole(json!({ "resources": [
            { "uri": "test://static-text", "name": "static-text", "mimeType": "text/plain" },
            { "uri": "test://static-binary", "name": "static-binary", "mimeType": "image/png" },
        ] }))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        whole(
            json!({ "resourceTemplates": [{ "uriTemplate": "test://template/{id}/data", "name": "template", "mimeType": "application/json" }] }),
        )
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let templated = uri
            .strip_prefix("test://template/")
            .and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (uri, templated) {
            ("test://static-text", _) => {
                json!({ "uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource." })
            }
            ("test://static-binary", _) => {
                json!({ "uri": uri, "mimeType": "image/png", "blob": PNG })
            }
            (_, Some(id)) => {
                json!({ "uri": uri, "mimeType": "application/json", "text": json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") }).to_string() })
            }
            _ => {
                return Err(ErrorData::resource_not_found(
                    format!("there is no {uri}"),
                    Some(json!({ "uri": uri })),
                ))
            }
        };
        let result: ReadResourceResult = whole(json!({ "contents": [contents] }))?;
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        whole(json!({ "prompts": [
            { "name": "test_simple_prompt", "description": "Without arguments" },
            { "name": "test_prompt_with_arguments", "description": "With two", "arguments": [
                { "name": "arg1", "required": true }, { "name": "arg2", "required": true },
            ] },
        ] }))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let given = request.arguments.unwrap_or_default();
        let argument = |name: &str| {
            given
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let said = match request.name.as_ref() {
            "test_simple_prompt" => "This is a simple prompt for testing.".to_owned(),
            "test_prompt_with_arguments" => format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                argument("arg1"),
                argument("arg2")
            ),
            name => {
                return Err(ErrorData::invalid_params(
                    format!("unknown prompt {name}"),
                    None,
                ))
            }
        };
        let result: GetPromptResult = whole(
            json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": said } }] }),
        )?;
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let begun = request.argument.value;
        let values: Vec<&str> = ["paris", "park", "party"]
            .into_iter()
            .filter(|value| value.starts_with(&begun))
            .collect();
        whole(
            json!({ "completion": { "values": values, "total": values.len(), "hasMore": false } }),
        )
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }
}

async fn log(cx: &RequestContext<RoleServer>) -> CallToolResult {
    for said in [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ] {
        let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(said));
        let _ = cx.peer.notify_logging_message(message).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    text("logged")
}

async fn progress(cx: &RequestContext<RoleServer>) -> CallToolResult {
    let Some(token) = cx.meta.get_progress_token() else {
        return text("nobody listens");
    };
    for step in [0.0, 50.0, 100.0] {
        let told = ProgressNotificationParam::new(token.clone(), step).with_total(100.0);
        let _ = cx.peer.notify_progress(told).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    text("done")
}

/// Asks by a request of its own in 2025-11-25, in rounds later.
async fn sample(
    request: CallToolRequestParams,
    cx: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let arguments = request.arguments.unwrap_or_default();
    let prompt = arguments
        .get("prompt")
        .and_then(Value::as_str)
        .unwrap_or("hello");
    let asked = json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": prompt } }], "maxTokens": 100 });
    let answer = if is_modern(cx) {
        match request.input_responses {
            None => return rounds("sample", "sampling/createMessage", asked),
            Some(answers) => json!(answers)["sample"].clone(),
        }
    } else {
        match cx.peer.create_message(made(asked)?).await {
            Ok(result) => json!(result),
            Err(cause) => {
                return Ok(
                    CallToolResult::error(vec![ContentBlock::text(cause.to_string())]).into(),
                )
            }
        }
    };
    Ok(text(format!(
        "LLM response: {}",
        answer["content"]["text"].as_str().unwrap_or("none")
    ))
    .into())
}

async fn elicit(
    request: CallToolRequestParams,
    cx: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let arguments = request.arguments.unwrap_or_default();
    let message = arguments
        .get("message")
        .and_then(Value::as_str)
        .unwrap_or("Who are you?");
    let schema = json!({ "type": "object", "properties": { "username": { "type": "string" }, "email": { "type": "string" } }, "required": ["username", "email"] });
    let asked = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    let answer = if is_modern(cx) {
        match request.input_responses {
            None => return rounds("ask", "elicitation/create", asked),
            Some(answers) => json!(answers)["ask"].clone(),
        }
    } else {
        match cx.peer.create_elicitation(made(asked)?).await {
            Ok(result) => json!(result),
            Err(cause) => {
                return Ok(
                    CallToolResult::error(vec![ContentBlock::text(cause.to_string())]).into(),
                )
            }
        }
    };
    Ok(text(format!(
        "User response: {}, {}",
        answer["action"], answer["content"]
    ))
    .into())
}

fn rounds(key: &str, method: &str, params: Value) -> Result<CallToolResponse, ErrorData> {
    let required: InputRequiredResult = made(
        json!({ "resultType": "input_required", "inputRequests": { key: { "method": method, "params": params } } }),
    )?;
    Ok(required.into())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(address) = std::env::args().nth(1) else {
        Server.serve(stdio()).await?.waiting().await?;
        return Ok(());
    };
    let service = StreamableHttpService::new(
        || Ok(Server),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let listener = tokio::net::TcpListener::bind(address).await?;
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
