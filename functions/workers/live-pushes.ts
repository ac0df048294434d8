import type { BatchWorker } from '#shared/http/worker.ts'
import { Changed, pushUpdates } from '#shared/insight/live/index.ts'
import { forEachConcurrently } from '#shared/kernel/for-each-concurrently.ts'

/** Sends changes to the open pages of the console. Changes of one workspace that wait together are one message to each page. */
export const worker: BatchWorker = {
  name: 'live-pushes',
  source: { kind: 'queue', queue: 'live' },
  needs: ['table:read', 'table:write', 'sockets'],
  timeoutSeconds: 30,
  async handleBatch(work, messages) {
    const places = new Map<string, { people: Set<string> | undefined; from: number[] }>()
    const schema = Changed()
    const invalid = new Map<number, unknown>()
    for (const [i, message] of messages.entries()) {
      const { data, error } = schema.safeParse(message)
      if (!data) {
        invalid.set(i, error)
        continue
      }
      const place = places.get(data.workspace_id) ?? { people: new Set(), from: [] }
      place.from.push(i)
      if (data.user_id === undefined) place.people = undefined
      else place.people?.add(data.user_id)
      places.set(data.workspace_id, place)
    }
    const failed = await forEachConcurrently([...places], places.size, ([workspaceId, { people }]) =>
      pushUpdates(work, workspaceId, people),
    )
    return new Map([
      ...invalid,
      ...[...failed].flatMap(([[, { from }], error]) => from.map((i) => [i, error] as const)),
    ])
  },
}
