import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';

/** A search field whose text is `filter`. */
export function FilterField({ filter }: { readonly filter: Signal<string> }): JSX.Element {
  const id = useId();
  return (
    <>
      <label for={id}>Filter</label>
      <input
        id={id}
        type="search"
        value={filter.value}
        onInput={(event) => {
          filter.value = event.currentTarget.value;
        }}
      />
    </>
  );
}
