import type { BotOptions, StandInBot } from './bots.ts'
import type { BusinessConnection } from './connections.ts'
import type { Webhook } from './updates.ts'

/** Where a text is kept beyond a restart. */
export interface Memory {
  read(): string | undefined
  write(text: string): void
}

/** What platforms rely on after a restart; what was said is forgotten. */
export interface Kept {
  /** All but the platform's own, which is set up again at every start. */
  bots: (BotOptions & { webhook?: Webhook })[]
  /** Of the platform's own bot. */
  connections: BusinessConnection[]
}

export const recall = (memory: Memory | undefined): Kept => {
  const text = memory?.read()
  return text === undefined ? { bots: [], connections: [] } : (JSON.parse(text) as Kept)
}

export const remember = (memory: Memory | undefined, main: StandInBot, others: readonly StandInBot[]): void => {
  const bots = others.map(({ token, username, user, updates: { webhook } }) => ({
    token,
    username,
    name: user.first_name,
    ...(webhook && { webhook }),
  }))
  memory?.write(JSON.stringify({ bots, connections: main.connections.all() } satisfies Kept))
}
