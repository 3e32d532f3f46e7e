import { nearest, type PlanPart, type SectionReader } from '@toolmgr/core';

/** What is read here of the section. */
interface DataProtection {
  readonly rules: readonly { readonly backends?: readonly string[] }[];
}

/** `dataProtection`. */
export const contract: SectionReader = {
  fromContract(section: unknown, _reading, use): PlanPart {
    return section === undefined ? {} : { plugins: [{ use, with: section }] };
  },
  /** A rule for a backend that the file does not have would never be applied. */
  problems({ rules }: DataProtection, { backends, discovers, hasOwnPlugins }) {
    if (backends.length === 0 || discovers === true || hasOwnPlugins) return [];
    const known = backends.map(({ name }) => name);
    return rules.flatMap(({ backends: named = [] }, rule) =>
      named.flatMap((name, index) => {
        if (known.includes(name)) return [];
        const meant = nearest(name, known);
        const hint = meant === undefined ? '' : `, did you mean "${meant}"?`;
        return [{ path: ['rules', rule, 'backends', index], message: `no backend is named "${name}"${hint}` }];
      }),
    );
  },
};
