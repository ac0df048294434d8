// The agent that every runtime serves. Its input says what it does.
import { createAgent } from '@agent-integration-platform/sdk'

const UNSENDABLE = { nan: Number.NaN, bigint: 1n, large: 'x'.repeat(1024 * 1024) }

/** The secret may come later, as in a build. */
export const agentOf = (secret) =>
  createAgent({
    secret,
    watchEvery: 0,
    answerWithin: 500,
    onError() {},
    async onRun({ input }) {
      if (input.it === 'slow') await new Promise((resolve) => setTimeout(resolve, 1_500))
      return { it: UNSENDABLE[input.it] ?? input.it }
    },
  })
