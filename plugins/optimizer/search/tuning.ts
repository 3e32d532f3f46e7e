/** Parameters of the ranking, chosen by the mean over the measured sets (docs/project/retrieval.md). */
export interface Tuning {
  /** Weight of a term by field. */
  readonly weights: Readonly<Record<Field, number>>;
  /** Length normalisation by field: 0 none, 1 proportional. */
  readonly lengths: Readonly<Record<Field, number>>;
  /** Saturation of repeated terms: a smaller value saturates earlier. */
  readonly saturation: number;
  /** Weights of a synonym, a similar spelling and a word of `INTERFACE_TERMS`, relative to the word itself. */
  readonly synonym: number;
  readonly misspelt: number;
  readonly interfaceWord: number;
  /** Weight of the words of a value in a query (file name, quote, address, id). */
  readonly value: number;
  /** Weight of the whole query when it has parts. */
  readonly whole: number;
  /** How far the best semantic score usually is above the mean, relative to random scores; then its weight is the ratio. */
  readonly outlierFactor: number;
  /** With keywords and vectors together, tools below this share of the best score are dropped. */
  readonly minShare: number;
}

/** The fields of a tool. */
export const FIELDS = ['name', 'backend', 'description', 'parameters', 'parameterTexts'] as const;
export type Field = (typeof FIELDS)[number];

export const TUNING: Tuning = {
  weights: { name: 3, backend: 1, description: 1.5, parameters: 0.7, parameterTexts: 0.6 },
  lengths: { name: 0.5, backend: 0.3, description: 0.6, parameters: 0.6, parameterTexts: 0.7 },
  saturation: 1.4,
  synonym: 0.3,
  misspelt: 0.6,
  interfaceWord: 0.45,
  value: 0.3,
  whole: 0.7,
  outlierFactor: 1.4,
  minShare: 0.4,
};
