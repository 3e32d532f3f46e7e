import type { z } from 'zod';
import type { Jobs, PublishEvent } from './events.ts';
import type { Problem, ProblemCode } from './problems.ts';

/** What an operation gets from the host for each request. */
export interface OperationContext {
  /** Ends when the client disconnects, the time limit of the route passes or the manager stops. */
  readonly signal: AbortSignal;
  /** Name of the caller for logs. */
  readonly caller: string;
  /** A call of an agent that no person confirmed: what its arguments name is not the choice of the user. */
  readonly isByAgent?: boolean;
  /** `Last-Event-ID` of a client that opens an event stream again. */
  readonly lastEventId?: string | undefined;
  /** `If-Match`: the entity tag that a change is based on. */
  readonly ifMatch?: string | undefined;
  readonly jobs: Jobs;
  readonly publish: PublishEvent;
  /** For a person who waits: a step of the work, or a warning. Absent where there is none. */
  readonly report?: (text: string, kind?: 'step' | 'warning') => void;
}

/** A request after validation: each part as its schema makes it. */
export interface OperationRequest<Path, Query, Body> {
  readonly path: Path;
  readonly query: Query;
  readonly body: Body;
  readonly context: OperationContext;
}

/** A success. `body` fits the schema of its status; without a schema there is none. */
export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of `body`: chunks of a text that may be long or without end, e.g. a log that is followed. */
  readonly stream?: AsyncIterable<string>;
}

/** One success of an operation, for validation and for the OpenAPI document. */
export interface AnswerSpec {
  readonly description: string;
  /** Absent: the answer has no body. */
  readonly schema?: z.ZodType;
  readonly example?: unknown;
  /** Default `application/json`. */
  readonly mediaType?: 'application/json' | 'text/plain' | 'text/event-stream';
  readonly headers?: Readonly<Record<string, string>>;
}

/** The operation as a tool of the manager's MCP endpoint. */
export interface OperationTool {
  readonly name: string;
  /** What the tool does, for a model. Default: summary and description. */
  readonly description?: string;
  readonly readOnly?: boolean;
  /**
   * It deletes or overwrites what toolmgr did not write, or runs what the caller chose. A person is asked by elicitation before it runs,
   * and a client that cannot ask is refused. `when`: only calls with one of these arguments, other than `false`.
   */
  readonly destructive?: boolean | { readonly when: readonly string[] };
  readonly idempotent?: boolean;
}

/** The operation as a command of the program. What it takes follows from the schemas: `--max-age` for a member `max_age`. */
export interface OperationCommand {
  /** The words after `toolmgr`: `uptime`, `notes add`. The first one is none of toolmgr itself. */
  readonly words: string;
  /**
   * Parameters, or members of the body, that are given by their place; the others are options. `format`, `json` and `help` cannot be options:
   * every command has these.
   */
  readonly arguments?: readonly string[];
  /** The body of a success as text. Default: a table for a list of objects, lines for an object. */
  print?(body: unknown): string;
}

/**
 * One operation of the manager's HTTP API. From it come the route, the validation, the OpenAPI document, the reference page
 * with `tool` a tool of the manager's MCP endpoint, and with `command` a command.
 *
 * Shape: `path` as in OpenAPI, e.g. `/api/v1beta/workloads/{name}`. `path` and `query` members arrive as text: their schemas
 * convert them. Objects are strict: unknown members are refused with the nearest known one.
 */
export interface Operation<
  Path extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
> {
  /** `operationId`, e.g. `listWorkloads`. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: Path;
  readonly query?: Query;
  readonly body?: Body;
  /** A request without a body is accepted; `body` is then `undefined`. */
  readonly bodyOptional?: boolean;
  readonly bodyExample?: unknown;
  readonly answers: Readonly<Record<number, AnswerSpec>>;
  /** Problems beside those that the host gives for every operation (400 with a schema, 401, 403, 405, 413, 415, 500). */
  readonly problems: readonly ProblemCode[];
  /** `long`: 11 minutes instead of 60 seconds. `stream`: none. */
  readonly timeLimit?: 'standard' | 'long' | 'stream';
  readonly tool?: OperationTool;
  readonly command?: OperationCommand;
  run(request: OperationRequest<z.output<Path>, z.output<Query>, z.output<Body>>): Promise<Answer | Problem>;
}

/** Declares an operation: the types of `run` follow from its schemas. */
export function operation<Path extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType>(
  declared: Operation<Path, Query, Body>,
): Operation {
  return declared as unknown as Operation;
}

/** Whether an operation refused the request. */
export function isProblem(answer: Answer | Problem): answer is Problem {
  return 'problem' in answer;
}
