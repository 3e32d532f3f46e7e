import type { CedarValueJson } from '@cedar-policy/cedar-wasm/nodejs';
import { type ArgumentReads, type ScalarType, typeOf } from './argument-reads.ts';

/** A policy that compares an argument with values of other types only. */
export interface OtherType {
  readonly policy: string;
  readonly attribute: string;
}

type Attributes = Readonly<Record<string, CedarValueJson>>;

/**
 * Finds arguments whose type is none of the types that a policy compares them with. For Cedar such values are different,
 * without an error; a server that converts `"101"` to 101 uses the value that the policy names.
 */
export function findOtherTypes(reads: readonly ArgumentReads[]): (read: Attributes, claims: Attributes) => OtherType[] {
  const comparisons = reads.flatMap(({ policy, compared }) =>
    [...compared].map(([attribute, { types, attributes }]) => ({ policy, attribute, types, others: [...attributes] })),
  );
  return (read, claims) => {
    const found: OtherType[] = [];
    for (const { policy, attribute, types, others } of comparisons) {
      const type = typeOf(read[attribute]);
      if (type === undefined || types.has(type)) continue;
      const dynamic = others.length === 0 ? NONE : others.flatMap((name) => typesIn(read[name] ?? claims[name]));
      if (types.size + dynamic.length > 0 && !dynamic.includes(type)) found.push({ policy, attribute });
    }
    return found;
  };
}

const NONE: readonly ScalarType[] = [];

/** The type of a value, or the types of the elements of a set. */
function typesIn(value: CedarValueJson | undefined): readonly ScalarType[] {
  const types = Array.isArray(value) ? value.map(typeOf) : [typeOf(value)];
  return types.filter((type) => type !== undefined);
}
