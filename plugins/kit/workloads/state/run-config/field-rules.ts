/** Names of fields or options, when they would have no effect, and why. */
export type FieldRule<Name, Facts> = readonly [
  names: readonly Name[],
  when: (facts: Facts) => boolean,
  because: string,
];

/** Makes and finds rules about names. `say` is how sentences name them, `isGiven` whether a value says anything. */
export function fieldRules<Name, Facts>(
  valueIn: (facts: Facts, name: Name) => unknown,
  say: (name: Name) => string = String,
  isGiven = (value: unknown): boolean => value !== undefined,
) {
  type Rule = FieldRule<Name, Facts>;
  return {
    needs: (names: readonly Name[], other: Name, why = ''): Rule => [
      names,
      (facts) => valueIn(facts, other) === undefined,
      `needs ${say(other)}${why}`,
    ],
    excludes: (names: readonly Name[], other: Name, because = `and ${say(other)} exclude each other`): Rule => [
      names,
      (facts) => valueIn(facts, other) !== undefined,
      because,
    ],
    /** The first rule that applies, as a name that is given and why it has no effect. */
    find(rules: readonly Rule[], facts: Facts): { readonly name: Name; readonly because: string } | undefined {
      for (const [names, when, because] of rules) {
        const name = names.find((each) => isGiven(valueIn(facts, each)));
        if (name !== undefined && when(facts)) return { name, because };
      }
      return undefined;
    },
  };
}
