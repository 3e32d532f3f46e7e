/** What ranking depends on; chosen by the mean over the measured sets (docs/retrieval.md), never by one request. */
export interface Tuning {
  /** What a word is worth by where it stands. */
  readonly weights: Readonly<Record<Field, number>>;
  /** How much a longer text makes its words cheaper: 0 not at all, 1 in proportion. */
  readonly lengths: Readonly<Record<Field, number>>;
  /** When a repeated word stops counting: small is soon. */
  readonly saturation: number;
  /** What a relative, a likely misspelling and a word of interfaces are worth against the word itself. */
  readonly relative: number;
  readonly misspelt: number;
  readonly interfaceWord: number;
  /** What the words of a value in a query (file name, quote, address, id) are worth against the others. */
  readonly value: number;
  /** Share of the whole query against its parts, where it has parts. */
  readonly whole: number;
  /** How far the best meaning usually stands out, against the best of as many random numbers: there its vote is the ratio. */
  readonly standsOut: number;
  /** With words and meaning together, what scores below this share of the best is not found. */
  readonly least: number;
}

/** The fields of a tool. */
export const FIELDS = ['name', 'backend', 'description', 'parameters', 'parameterTexts'] as const;
export type Field = (typeof FIELDS)[number];

export const TUNING: Tuning = {
  weights: { name: 3, backend: 1, description: 1.5, parameters: 0.7, parameterTexts: 0.6 },
  lengths: { name: 0.5, backend: 0.3, description: 0.6, parameters: 0.6, parameterTexts: 0.7 },
  saturation: 1.4,
  relative: 0.3,
  misspelt: 0.6,
  interfaceWord: 0.45,
  value: 0.3,
  whole: 0.7,
  standsOut: 1.4,
  least: 0.4,
};
