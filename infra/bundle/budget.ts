/** What a bundle may have at most, in bytes: every cold start reads and parses it. */
const BYTES = 400_000

/** Functions that may have more, and why. */
const LARGER: Record<string, { bytes: number; reason: string }> = {
  'moderation-calls': {
    bytes: 460_000,
    reason:
      'Validates manifests and calls outside addresses, which no other function does together: 45 KB. Only moderators call it, and ' +
      'what follows waits seconds on the addresses of an app.',
  },
  'inline-agents': {
    bytes: 1_250_000,
    reason:
      'The AI SDK brings the whole of zod and its own gateway: 760 KB. Only this worker carries it; it is woken by a queue, its ' +
      'import takes 20 ms longer than another worker’s, and what follows waits seconds on a model.',
  },
}

/** What is wrong with the sizes of bundles: one line for each that is over its budget. */
export const overBudget = (reports: readonly { name: string; bytes: number }[]): string[] =>
  reports.flatMap(({ name, bytes }) => {
    const most = LARGER[name]?.bytes ?? BYTES
    return bytes > most ? [`functions/${name} is bundled into ${bytes} bytes; it may have ${most}`] : []
  })
