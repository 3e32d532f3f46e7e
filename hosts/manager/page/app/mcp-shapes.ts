// What the page reads of MCP.

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** A tool, prompt, resource or template as the endpoint lists it. */
export interface Listed {
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
  readonly uri?: string;
  readonly uriTemplate?: string;
  readonly mimeType?: string;
  readonly inputSchema?: Json;
  readonly arguments?: readonly { readonly name: string; readonly description?: string; readonly required?: boolean }[];
  readonly annotations?: Json;
}

/** An answer of an endpoint: a result, or an error of JSON-RPC. */
export type McpAnswer =
  | { readonly result: Json }
  | { readonly error: { readonly code: number; readonly message: string } };

/** How far a call is, as its server says (`notifications/progress`). */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}
