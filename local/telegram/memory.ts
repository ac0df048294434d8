import type { BotOptions, StandInBot } from './bots.ts'
import type { BusinessConnection } from './connections.ts'
import type { Webhook } from './updates.ts'

/** Stores a text across restarts. */
export interface Memory {
  read(): string | undefined
  write(text: string): void
}

/** State that platforms rely on after a restart. Messages aren't kept. */
export interface StoredState {
  /** All bots except the platform's own, which is set up at every start. */
  bots: (BotOptions & { webhook?: Webhook })[]
  /** Connections of the platform's own bot. */
  connections: BusinessConnection[]
}

export const loadState = (memory: Memory | undefined): StoredState => {
  const text = memory?.read()
  return text === undefined ? { bots: [], connections: [] } : (JSON.parse(text) as StoredState)
}

export const saveState = (memory: Memory | undefined, main: StandInBot, others: readonly StandInBot[]): void => {
  const bots = others.map(({ token, username, user, updates: { webhook } }) => ({
    token,
    username,
    name: user.first_name,
    ...(webhook && { webhook }),
  }))
  memory?.write(JSON.stringify({ bots, connections: main.connections.all() } satisfies StoredState))
}
