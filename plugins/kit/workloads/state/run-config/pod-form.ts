import { z } from 'zod';

/** A name of the Kubernetes API. Source: RFC 1123 subdomain. */
export const podName = z
  .string()
  .max(253)
  .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/, {
    error: 'expected a name of Kubernetes: lower-case letters, digits, - and .',
  });

/** A container of a pod that runs a stdio server. */
export const podForm = z.strictObject({ namespace: podName, name: podName, container: podName });
