import type { RawJson } from '../contract/json.ts';
import { RawObject } from '../json/raw-json.ts';
import { endToEndMeta } from './meta.ts';

/** Params or a result object without per-hop `_meta` members. Returns the same buffer when there are none. */
export function withoutPerHop(object: RawJson): RawJson {
  if (!object.includes(META_KEY)) return object; // most objects have none, and a search is cheaper than a scan
  const members = RawObject.parse(object);
  const meta = members.get('_meta');
  if (meta === undefined) return object;
  const kept = endToEndMeta(meta);
  if (kept === meta) return object;
  return (kept === undefined ? members.without('_meta') : members.with('_meta', kept)).toBytes();
}

const META_KEY = Buffer.from('_meta');
