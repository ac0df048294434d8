/**
 * Runs `act` on each item, at most `atOnce` at a time. A failure doesn't stop the others.
 *
 * @returns the errors of the items that failed, by item
 */
export const forEachConcurrently = async <T>(
  list: readonly T[],
  atOnce: number,
  act: (item: T) => Promise<void>,
): Promise<Map<T, unknown>> => {
  const failed = new Map<T, unknown>()
  const rest = list.values()
  const worker = async (): Promise<void> => {
    for (const item of rest) await act(item).catch((error: unknown) => failed.set(item, error))
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, list.length) }, worker))
  return failed
}
