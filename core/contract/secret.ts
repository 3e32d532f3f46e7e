/** A string that prints as `[secret]`; `reveal` is called only in the line that sends it. */
export interface Secret {
  reveal(): string;
}
