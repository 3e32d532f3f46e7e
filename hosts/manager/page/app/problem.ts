/** One wrong member of a request, as the API names it. */
export interface FieldFault {
  readonly path: string;
  readonly detail: string;
}

/** A refusal of the API, or a fault on the way. `message` is a sentence for the person. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly fields: readonly FieldFault[];

  constructor(message: string, status: number, code: string, fields: readonly FieldFault[] = []) {
    super(message);
    this.status = status;
    this.code = code;
    this.fields = fields;
  }
}

/** Reads RFC 9457 bodies; other bodies become a sentence with the status. */
export function problemFrom(status: number, text: string): ApiProblem {
  const body = parsed(text);
  const message = textOf(body.detail) ?? textOf(body.message) ?? textOf(body.title) ?? `The host answered ${status}.`;
  const errors = Array.isArray(body.errors) ? (body.errors as Record<string, unknown>[]) : [];
  const fields = errors.map((error) => ({ path: textOf(error.path) ?? '', detail: textOf(error.detail) ?? '' }));
  return new ApiProblem(message, status, textOf(body.code) ?? '', fields);
}

/** A sentence for whatever was thrown. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function parsed(text: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
