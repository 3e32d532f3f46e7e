import { type PlanInput, readPlan } from '@toolmgr/core';
import { stringify } from 'yaml';
import { HIDDEN, redactArguments, redactUrl } from '../shared/redact-arguments.ts';
import type { StatusPagesConfig } from './status-pages-schema.ts';

/** Keys whose value is a secret. The name of a variable (`…Env`) is not. */
const SECRET_KEY =
  /^(headerValue|stateKey|authorization|cookie)$|(secret|password|passphrase|token|apiKey|credential)s?$/i;
/** Maps whose values may be secrets under any key. */
const SECRET_MAP = /^(env|headers|embeddingHeaders)$/;

/** A plan with every default as YAML, with secrets replaced, and the settings of the host. */
export function planAsYaml(input: PlanInput, statusPages?: StatusPagesConfig): string {
  const ofHost = statusPages === undefined ? {} : { statusPages };
  return stringify(withoutSecrets({ ...readPlan(input), ...ofHost }), { lineWidth: 0 });
}

/** A copy without secrets, for printing. */
export function withoutSecrets(value: unknown, key = '', inSecretMap = false): unknown {
  if (Array.isArray(value) && key === 'args') return redactArguments(value);
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, key, inSecretMap));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, withoutSecrets(member, name, SECRET_MAP.test(key))]),
    );
  }
  const isSecret = inSecretMap || SECRET_KEY.test(key);
  if (typeof value !== 'string' || value === '') return value;
  return isSecret ? HIDDEN : redactUrl(value);
}
