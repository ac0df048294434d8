import type { Schemas } from '../api.ts'

/** Joins what an agent has written in a run so far: a message with `append` continues the one before. */
export const writtenIn = (steps: readonly Schemas['RunStep'][]): string =>
  steps
    .filter(({ type }) => type === 'message')
    .sort((a, b) => a.seq - b.seq)
    .reduce((text, { output }) => {
      const { text: more, append } = (output ?? {}) as { text?: unknown; append?: unknown }
      if (typeof more !== 'string') return text
      return append === true ? text + more : more
    }, '')
