/**
 * Does something for each of a list, for so many of them at the same time.
 * @returns what went wrong, by whose it was; for the others it is done
 */
export const eachOf = async <T>(
  list: readonly T[],
  atOnce: number,
  act: (one: T) => Promise<void>,
): Promise<Map<T, unknown>> => {
  const failed = new Map<T, unknown>()
  const rest = list.values()
  const worker = async (): Promise<void> => {
    for (const one of rest) await act(one).catch((error: unknown) => failed.set(one, error))
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, list.length) }, worker))
  return failed
}
