/** Schemas and texts that settings of several plugins share. */
import './web-assembly.ts';

export { inCamelCase } from './camel-case.ts';
export { decimalText } from './decimal-text.ts';
export { BYTES_PER_TOKEN, estimatedTokens } from './estimated-tokens.ts';
export { durationMs, goDuration } from './go-duration.ts';
export { shortened, typeOfSchema } from './schema-type.ts';
export { uniqueNames } from './unique-names.ts';
export { type ConfiguredName, unknownNames } from './unknown-names.ts';
export { addressRules, hmacSecretOf, timeoutMsOf, type WebhookSettings, webhookList } from './webhook-settings.ts';
