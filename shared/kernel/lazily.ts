/** Returns a function that makes a value at its first call and returns the same from then on. */
export const lazily = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
