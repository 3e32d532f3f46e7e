import type { Ask } from '../../shared/ask.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { secretTargetOf } from '../config/collect-secrets.ts';
import { configFromFlags, type NewWorkload } from '../config/config-from-flags.ts';
import type { RunFlags } from '../fields/options.ts';
import { checkToolNames } from '../registry/check-tool-names.ts';
import { entryValues } from '../registry/entry-values.ts';
import { fromRegistry } from '../registry/from-registry.ts';
import { findUserSecret } from '../secrets/start-secrets.ts';
import { checkImage } from './check-image.ts';

/**
 * A new workload. `missed` says why TARGET is no name of the registry, for the message when it is nothing else either; `signed` says
 * whether its image was verified.
 */
export type NewFromTarget = NewWorkload & { readonly missed?: string; readonly signed?: string };

/**
 * Builds the configuration of a new workload from TARGET and the flags, with what the registry says about it.
 * @throws UsageError when they are invalid, or a required value is missing
 */
export async function newWorkload(
  target: string,
  args: readonly string[],
  flags: RunFlags,
  cwd: string,
  ask: Ask | undefined,
): Promise<NewFromTarget> {
  const from = await fromRegistry(target, args, flags, cwd, ask);
  const { entry, missed, profile } = from;
  const defaults = profile === undefined ? {} : { profile };
  const made = await configFromFlags(from.target, from.args, from.flags, cwd, Date.now(), defaults).catch(
    (cause: unknown) => {
      throw missed !== undefined && cause instanceof UsageError
        ? new UsageError(`${cause.message} (${missed})`)
        : cause;
    },
  );
  if (entry !== undefined) checkToolNames(entry, made.config);
  const warnings = [...from.warnings, ...made.warnings];
  const { digest, says, warning } = await checkImage(made.config, from, flags.imageVerification);
  if (warning !== undefined) warnings.push(warning);
  const signed = says === undefined ? {} : { signed: says };
  if (entry === undefined) return { ...made, ...signed, warnings, ...(missed === undefined ? {} : { missed }) };
  const targets = new Set((made.config.secrets ?? []).map(secretTargetOf));
  const isForeign = from.fields.registry_url !== undefined || from.fields.registry_api_url !== undefined;
  const values = await entryValues(entry, made.config, targets, findUserSecret, ask, isForeign);
  const references = Object.keys(values.secrets).map((name) => `${name},target=${name}`);
  // a secret of the user is referred to, so that a new value counts at the next start
  const typed = Object.entries(values.secrets).filter(([name]) => !values.stored.has(name));
  return {
    config: {
      ...made.config,
      ...from.fields,
      ...(digest === undefined ? {} : { image_digest: digest }),
      env_vars: { ...values.env, ...made.config.env_vars },
      ...(references.length === 0 ? {} : { secrets: [...references, ...(made.config.secrets ?? [])] }),
    },
    ...signed,
    warnings,
    secrets: { ...made.secrets, ...Object.fromEntries(typed) },
  };
}
