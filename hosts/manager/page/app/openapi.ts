import { type FormSchema, plainSchema } from '../widgets/form-schema.ts';
import { sendRequest } from './request.ts';

/** The OpenAPI document of the host. */
export type Description = Readonly<Record<string, unknown>>;

let kept: Description | undefined;

/** Reads the OpenAPI document once. */
export async function readDescription(signal?: AbortSignal): Promise<Description> {
  kept ??= (await (await sendRequest('/api/openapi.json', { signal })).json()) as Description;
  return kept;
}

/** The schema of the body of an operation, without its outermost reference. */
export function bodySchemaOf(description: Description, method: string, path: string): FormSchema {
  const steps = ['paths', path, method.toLowerCase(), 'requestBody', 'content', 'application/json', 'schema'];
  let at: unknown = description;
  for (const step of steps) at = (at as Record<string, unknown> | undefined)?.[step];
  return plainSchema((at ?? {}) as FormSchema, description);
}
