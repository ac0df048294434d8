import type { Deps } from '#shared/foundation/work/work.ts'
import { loadRun, type RunKey } from '#shared/work/runs/change.ts'
import { type RunEvent, runEvents } from '#shared/work/runs/stream.ts'

/** Reads the events available in a run's stream, at most `most`, then cuts the connection. */
export const readStream = async (deps: Deps, key: RunKey, after: number, most = Infinity): Promise<RunEvent[]> => {
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

/** Event of a stream as received over the wire. */
export interface StreamEvent {
  id: string | undefined
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read events of every shape
  data: any
}

/** Parses the text of an event stream. */
export const parseStream = (text: string): StreamEvent[] =>
  text
    .split('\n\n')
    .map((block) => new Map(block.split('\n').map((line) => line.split(/: (.*)/s) as [string, string])))
    .filter((fields) => fields.has('data'))
    .map((fields) => ({
      id: fields.get('id'),
      event: fields.get('event') ?? 'message',
      data: JSON.parse(fields.get('data') ?? ''),
    }))
