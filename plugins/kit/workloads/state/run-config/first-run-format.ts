import { isObject, present } from '@toolmgr/core';
import { z } from 'zod';

/** `run.json` before it had the fields of the contract. */
const firstFormat = z.object({
  format: z.literal(1),
  name: z.string(),
  group: z.string(),
  target: z.string(),
  transport: z.string(),
  command: z.object({ file: z.string(), args: z.array(z.string()) }).optional(),
  url: z.string().optional(),
  env: z.record(z.string(), z.string()),
  cwd: z.string(),
  host: z.string(),
  proxyPort: z.int().optional(),
  targetPort: z.int().optional(),
  strictProtocolValidation: z.boolean().optional(),
  startTimeoutMs: z.int().optional(),
  createdAtMs: z.int(),
});

/** Converts the first format; returns any other value unchanged. Its sessions ended after 30 minutes, as they still do. */
export function fromFirstFormat(value: unknown): unknown {
  if (!isObject(value) || !('format' in value)) return value;
  const read = firstFormat.safeParse(value);
  if (!read.success) return value;
  const { command, startTimeoutMs, proxyPort, targetPort, ...old } = read.data;
  return {
    schema_version: 'v0.1.0',
    name: old.name,
    group: old.group,
    transport: old.transport,
    ...(old.url === undefined ? {} : { remote_url: old.url }),
    ...(command === undefined
      ? {}
      : {
          process: {
            ...{ target: old.target, file: command.file, args: command.args, cwd: old.cwd },
            ...(startTimeoutMs === undefined ? {} : { start_timeout: `${startTimeoutMs}ms` }),
          },
        }),
    env_vars: old.env,
    host: old.host,
    ...present({ port: proxyPort, target_port: targetPort }),
    session_ttl: '30m',
    strict_protocol_validation: old.strictProtocolValidation ?? false,
    created_at: new Date(old.createdAtMs).toISOString(),
  };
}
