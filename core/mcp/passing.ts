import type { RawJson } from '../contract/json.ts';
import { RawObject } from '../json/raw-json.ts';
import { endToEndMeta } from './meta.ts';

/** Params or a result object whose per-hop `_meta` members are gone. Bytes without any come back as they are. */
export function withoutPerHop(object: RawJson): RawJson {
  if (!object.includes(META_KEY)) return object; // most have none: a search is cheaper than a scan
  const members = RawObject.parse(object);
  const meta = members.get('_meta');
  if (meta === undefined) return object;
  const kept = endToEndMeta(meta);
  if (kept === meta) return object;
  return (kept === undefined ? members.without('_meta') : members.with('_meta', kept)).toBytes();
}

const META_KEY = Buffer.from('_meta');
