import { z } from 'zod';
import { goDuration } from '../settings/go-duration.ts';

const configMapName = z
  .string()
  .max(253)
  .regex(
    /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/,
    'expected a name of a config map: lower-case letters, digits, "-" and "."',
  );

/** Section `kubernetes` of the vmcp file, which the operator writes for pods. Durations in milliseconds. */
export const podSection = z.strictObject({
  backends: configMapName
    .optional()
    .describe('config map with the backends under the key `backends.json`; for `outgoingAuth.source: discovered`'),
  report: configMapName.optional().describe('config map in which the pod reports its state, under its own name'),
  drainTime: goDuration
    .prefault('25s')
    .describe(
      'longest time that a stopping pod continues to serve; `limits.stopMs` and the preStop hook come on top of it in `terminationGracePeriodSeconds`',
    ),
  serviceAccount: z
    .string()
    .min(1)
    .optional()
    .describe('folder with `token`, `ca.crt` and `namespace`; default: where Kubernetes mounts it'),
});

/** The parsed section. */
export type PodSection = z.output<typeof podSection>;
