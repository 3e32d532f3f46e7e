import { GatewayFault } from '@toolmgr/core';
import {
  DamagedSecrets,
  isOnePasswordReference,
  type ListedSecret,
  type SecretStore,
} from '@toolmgr/plugins/kit/secrets';
import { z } from 'zod';
import { OpError, type OpOptions, runOp } from './run-op.ts';

/**
 * Secrets of 1Password through its command line. A key is a reference `op://vault/item/field`. Read-only.
 *
 * Source: developer.1password.com/docs/cli/secret-reference-syntax.
 */
export function onePasswordStore(options: OpOptions): SecretStore {
  const run = async (args: readonly string[], signal: AbortSignal): Promise<string> => {
    try {
      return await runOp(args, options, signal);
    } catch (cause) {
      if (cause instanceof OpError) throw new GatewayFault('SECRETS_UNAVAILABLE', cause.message, { cause });
      throw cause;
    }
  };
  return {
    capabilities: { can_read: true, can_write: false, can_delete: false, can_list: true, can_cleanup: false },
    async read(key, signal) {
      if (!isOnePasswordReference(key)) return undefined;
      try {
        const value = await runOp(['read', '--no-newline', key], options, signal);
        return value === '' ? undefined : value;
      } catch (cause) {
        if (!(cause instanceof OpError)) throw cause;
        if (cause.reason === 'missing') return undefined;
        throw new GatewayFault('SECRETS_UNAVAILABLE', cause.message, { cause });
      }
    },
    async list(signal) {
      const items = parsed(itemList, await run(['item', 'list', '--format', 'json'], signal));
      if (items.length > MAX_ITEMS)
        throw new GatewayFault(
          'SECRETS_UNAVAILABLE',
          `1Password has more than ${MAX_ITEMS} items: they are not listed`,
        );
      const listed: ListedSecret[] = [];
      for (let at = 0; at < items.length; at += AT_ONCE) {
        const details = items
          .slice(at, at + AT_ONCE)
          .map(({ id, vault }) => run(['item', 'get', id, '--vault', vault.id, '--format', 'json'], signal));
        for (const text of await Promise.all(details)) listed.push(...referencesOf(parsed(itemDetail, text)));
      }
      return listed.sort((a, b) => (a.key < b.key ? -1 : 1));
    },
    async test(signal) {
      await run(['vault', 'list', '--format', 'json'], signal);
    },
  };
}

const id = z.string().regex(/^[a-z0-9]{1,64}$/); // becomes an argument
const itemList = z.array(z.object({ id, title: z.string(), vault: z.object({ id }) }));
const itemDetail = z.object({
  title: z.string(),
  fields: z.array(z.object({ reference: z.string().optional(), label: z.string().optional() })).default([]),
});

function referencesOf({ title, fields }: z.output<typeof itemDetail>): readonly ListedSecret[] {
  return fields.flatMap(({ reference, label = '' }) =>
    reference !== undefined && isOnePasswordReference(reference)
      ? [{ key: reference, description: label === '' ? title : `${title}: ${label}` }]
      : [],
  );
}

/** The message does not quote the text: it has values. */
function parsed<T extends z.ZodType>(schema: T, text: string): z.output<T> {
  let value: unknown;
  try {
    value = JSON.parse(text === '' ? '[]' : text);
  } catch {
    value = undefined;
  }
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw new DamagedSecrets('the program op of 1Password printed something else than expected');
}

const MAX_ITEMS = 500;
const AT_ONCE = 4;
