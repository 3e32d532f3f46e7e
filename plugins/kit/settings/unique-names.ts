import type { z } from 'zod';

/** A check of a list: an item whose name an earlier one has is a problem at its `name`. */
export function uniqueNames(items: readonly { readonly name: string }[], context: z.RefinementCtx): void {
  const known = new Set<string>();
  for (const [index, { name }] of items.entries()) {
    if (known.has(name)) context.addIssue({ code: 'custom', path: [index, 'name'], message: `duplicate name ${name}` });
    known.add(name);
  }
}
