import type { Deps } from '#shared/domain/deps.ts'
import { loadRun, type RunKey } from '#shared/domain/runs/change.ts'
import { type RunEvent, runEvents } from '#shared/domain/runs/stream.ts'

/** What a run's stream tells a reader at once who stands there, up to so many events; then the connection is cut. */
export const lookAt = async (deps: Deps, key: RunKey, after: number, most = Infinity): Promise<RunEvent[]> => {
  const run = await loadRun(deps, key)
  const events: RunEvent[] = []
  const newest = String(run.stream_seq)
  for await (const event of runEvents(deps, run, after, new AbortController().signal)) {
    if (!event || events.length >= most) break
    events.push(event)
    if (event.id === newest) break
  }
  return events
}

/** An event of a stream as it came over the wire. */
export interface Told {
  id: string | undefined
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read events of every shape
  data: any
}

/** Reads a stream's text. */
export const eventsIn = (text: string): Told[] =>
  text
    .split('\n\n')
    .map((block) => new Map(block.split('\n').map((line) => line.split(/: (.*)/s) as [string, string])))
    .filter((fields) => fields.has('data'))
    .map((fields) => ({
      id: fields.get('id'),
      event: fields.get('event') ?? 'message',
      data: JSON.parse(fields.get('data') ?? ''),
    }))
